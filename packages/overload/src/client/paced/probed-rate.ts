import { nextTryMs, usualMs } from './usual-windows.ts'

/** Part of the accepted requests that may be in flight while no limit is known. */
const PART = 1 / 50
/** Part of a measured rate that is used. */
const CAUTION = 0.985
/** Growth of a rate per accepted request while it is uncertain, and at first and at most when it is tested. */
const [UNCERTAIN, TEST, MOST] = [0.02, 0.001, 0.02]
/** Factor by which a tested rate is at most higher than the proven one. */
const STEP = 1.25
/** Accepted requests up to which a rate is unclear, from which on it is certain, after which a test is faster, and an earlier refusal is forgotten. */
const [UNCLEAR, CERTAIN, FASTER, FORGOTTEN] = [20, 40, 100, 300]
/** A rate that fewer requests show may be higher by this factor. */
const UNSURE = 1.2
/** A rate that has grown by this factor shows little. */
const GROWN = 1.5
/** With fewer requests in the first window, it shows nothing, or may have room for more, by this factor. */
const [FEW, SOME, FAR] = [5, 50, 100]
/** Part of the requests that tests of a rate may cost, and accepted requests after which it is tested again anyway. */
const [TEST_COST, MOST_HOLD] = [0.002, 2_000]
/** A gap grows by this factor if it cannot be measured, and by at most 1 + the other / accepted requests. */
const [SLOWER, DOUBT] = [1.02, 60]
/** Part of the limit of a window that must have been accepted until it refuses, and most of it that is one window. */
const [WHOLE, ONE] = [0.7, 1.5]
/** Failures in a row from which on an upstream is taken to be down. */
const DOWN = 3
const IDLE_MS = 1_000

/** A request that was sent: when, and as which one of all that were sent. */
export interface Turn {
  readonly atMs: number
  /** Number of requests that were sent before, without those that were refused. */
  readonly order: number
}

/**
 * The rate that an upstream without announcements accepts, as its refusals show. All requests are sent until one is
 * refused. Then single requests are tried, at times at which a window of a usual length would end. Requests that were
 * accepted from the first one to the end of such a window show its limit. If fewer are accepted then, the upstream limits
 * a rate: that of the requests which were accepted between two refusals.
 */
export class ProbedRate {
  readonly #mostFirst: number
  #gapMs = 0
  #accepted = 0
  #failures = 0
  /** The first request since an exhausted upstream accepts requests again, or since a pause. */
  #run: Turn | undefined
  /** When the reply to it came: a window that it began has begun before. */
  #beganMs = 0
  /** The first refusal since then. */
  #exhausted: Turn | undefined
  #exhaustedMs = 0
  /** Requests that were tried since then, and all that were refused. */
  #tries = 0
  #refused = 0
  #lastRefusedMs = Number.NEGATIVE_INFINITY
  /** The window that was seen to end, if the upstream has one. */
  #window: { readonly ms: number; readonly limit: number } | undefined
  /** An earlier refusal, if requests have been waiting ever since. */
  #anchor: Turn | undefined
  /** Whether the anchor is the end of a refusal that another process has met, when a unit may have been left. */
  #isAnchorAdopted = false
  #isDown = false
  /** Whether the upstream has accepted requests again before. */
  #hasResumed = false
  /** Whether another process has found the gap. */
  #isAdopted = false
  #changedAtMs = Number.NEGATIVE_INFINITY
  /** Up to this gap, the measured rate is uncertain. */
  #leastGapMs = 0
  /** The gap before a shorter one was tested; 0 if none is. */
  #provenGapMs = 0
  /** Accepted requests until a higher rate is tested. */
  #hold = 0
  #growth = TEST
  /** The gap when the upstream accepted requests again. */
  #resumedGapMs = 0
  #unrefused = 0
  #testedAtMs = 0
  #lastAtMs = Number.NEGATIVE_INFINITY

  /** `mostFirst`: requests that may be in flight at first. */
  constructor(mostFirst: number) {
    this.#mostFirst = mostFirst
  }

  /** Milliseconds between two requests; 0 if there is no limit. */
  get gapMs(): number {
    return this.#gapMs
  }

  /** Whether the upstream has refused a request, and has accepted none since. */
  get isTrying(): boolean {
    return this.#tries > 0
  }

  /** Largest number of requests in flight. */
  get mostInFlight(): number {
    if (this.#tries > 0) return 1
    return this.#gapMs > 0 ? Number.POSITIVE_INFINITY : Math.max(this.#mostFirst, Math.floor(this.#accepted * PART))
  }

  /** Called when a request is sent. `hasWaited`: requests were waiting for their turn. */
  sent(turn: Turn, hasWaited: boolean): void {
    if (!hasWaited && this.#tries === 0) {
      if (this.#gapMs > 0) this.#anchor = undefined
      else if (turn.atMs - this.#lastAtMs > IDLE_MS) this.#run = undefined
    }
    this.#run ??= turn
    this.#lastAtMs = turn.atMs
  }

  accepted(turn: Turn, now: number): void {
    this.#failures = 0
    this.#accepted++
    if (turn.order === this.#run?.order) this.#beganMs = now
    if (turn.atMs < this.#changedAtMs) return
    if (this.#tries > 0) this.#resume(turn, now)
    else if (this.#gapMs > 0) this.#grow(now)
  }

  /**
   * Returns for how long to send nothing, in ms. `waitMs`: the time for which the upstream asks for no requests, 0 if it
   * does not ask. `isLimit`: the refusal shows a limit; otherwise it may be an outage, which shows no rate.
   */
  refused(turn: Turn, waitMs: number, isLimit: boolean, now: number): number {
    this.#refused++
    this.#lastRefusedMs = Math.max(this.#lastRefusedMs, turn.atMs)
    // it was in flight when the first one was refused
    if (turn.atMs < this.#changedAtMs) {
      if (this.#exhausted && turn.order < this.#exhausted.order) this.#exhausted = turn
      return waitMs
    }
    // later requests of other processes may have been accepted
    if (this.#tries++ === 0 || turn.order > (this.#exhausted?.order ?? 0)) {
      this.#exhausted = turn
      this.#exhaustedMs = now
    }
    this.#changedAtMs = now
    this.#isDown = !isLimit && this.#tries > DOWN
    return waitMs > 0 ? waitMs : this.#tryAfterMs(now)
  }

  /** A request failed, perhaps because of overload: single failures are ignored. Returns for how long to send nothing. */
  failed(turn: Turn, now: number): number {
    if (turn.atMs < this.#changedAtMs || ++this.#failures < DOWN) return 0
    this.#isDown = true
    this.#tries++
    this.#changedAtMs = now
    return this.#tryAfterMs(now)
  }

  /**
   * Takes over the gap that other processes have found. A longer one explains what this process has been refused: the
   * upstream was exhausted, and accepts requests again.
   */
  adopt(gapMs: number, turn: Turn): void {
    if (gapMs > this.#gapMs) {
      this.#provenGapMs = 0
      // for its window
      if (this.#run) this.#measuredMs(this.#run, turn, turn)
      // the bucket may have been full while the rate was low
      if (this.#resumedGapMs > GROWN * this.#gapMs) this.#anchor = undefined
      this.#leastGapMs = this.#resumedGapMs = gapMs
      this.#hold = MOST_HOLD
      this.#isAdopted = true
      this.#tries = this.#refused = 0
      this.#run = undefined
      if (!this.#anchor) {
        this.#anchor = { atMs: turn.atMs, order: turn.order + 1 }
        this.#isAnchorAdopted = true
      }
      this.#changedAtMs = turn.atMs
    }
    this.#gapMs = gapMs
    this.#leastGapMs = Math.min(this.#leastGapMs, gapMs)
  }

  /** The first request after a refusal was accepted. */
  #resume(turn: Turn, now: number): void {
    if (this.#isDown) this.#accepted = 0
    else if (this.#run && this.#exhausted) this.#gapMs = this.#measuredMs(this.#run, this.#exhausted, turn)
    this.#resumedGapMs = this.#gapMs
    this.#hold = Math.min(MOST_HOLD, Math.max(0, this.#hold) + this.#refused / TEST_COST)
    if (!this.#anchor || this.#isAnchorAdopted) {
      this.#anchor = this.#exhausted && { atMs: this.#lastRefusedMs, order: this.#exhausted.order }
      this.#isAnchorAdopted = false
    }
    this.#run = turn
    this.#hasResumed = true
    this.#beganMs = now
    this.#changedAtMs = turn.atMs
    this.#tries = this.#refused = this.#provenGapMs = 0
    this.#isDown = false
  }

  /** Returns the gap that an upstream accepts that was exhausted and accepts requests again. */
  #measuredMs(run: Turn, exhausted: Turn, resumed: Turn): number {
    if (this.#provenGapMs > 0) return this.#provenGapMs
    const accepted = Math.max(1, exhausted.order - run.order)
    if (this.#gapMs === 0) return this.#openWindow(resumed.atMs - run.atMs, accepted)
    const isAlone = resumed.order - exhausted.order < FEW
    if (isAlone && this.#window && accepted >= WHOLE * this.#window.limit) return this.#windowMs(run, resumed, accepted)
    this.#window = undefined
    return this.#bucketMs(exhausted, accepted)
  }

  #openWindow(sinceMs: number, accepted: number): number {
    // the first window may have been used up before this process started
    const isFirst = this.#gapMs === 0
    if (isFirst && accepted < FEW && !this.#hasResumed) return 0
    const ms = usualMs(sinceMs)
    this.#isAdopted = false
    this.#window = { ms, limit: accepted }
    const gapMs = Math.max(this.#gapMs, ms / accepted / CAUTION)
    this.#leastGapMs = isFirst && !this.#hasResumed && accepted < SOME ? gapMs / FAR : gapMs
    return gapMs
  }

  #windowMs(run: Turn, resumed: Turn, accepted: number): number {
    const { ms, limit } = this.#window ?? { ms: 0, limit: 1 }
    // the window is longer than it looked from its middle
    const sinceMs = resumed.atMs - run.atMs
    if (accepted < ONE * limit && sinceMs > ONE * ms) return this.#openWindow(sinceMs, accepted)
    this.#leastGapMs = Math.max(this.#gapMs * SLOWER, ms / limit / CAUTION)
    return this.#leastGapMs
  }

  /** A bucket is as empty as at an earlier refusal. */
  #bucketMs(exhausted: Turn, accepted: number): number {
    const from = this.#anchor
    const requests = from ? exhausted.order - from.order : 0
    if (!from || requests <= 0) {
      // the process that found the gap measures it again
      this.#leastGapMs = this.#isAdopted ? this.#gapMs : this.#gapMs * SLOWER
      return this.#leastGapMs
    }
    const ms = exhausted.atMs - from.atMs
    const most = this.#gapMs * (1 + DOUBT / accepted)
    const gapMs = Math.min(Math.max(this.#gapMs, ms / requests / CAUTION), most)
    if (this.#resumedGapMs > GROWN * this.#gapMs) {
      // the bucket may have been full while the rate was low
      this.#anchor = undefined
      this.#leastGapMs = Math.sqrt(gapMs * this.#gapMs)
      return this.#leastGapMs
    }
    let least = gapMs
    if (requests < UNCLEAR) least = ms / (requests + 2) / UNSURE
    else if (requests < CERTAIN) least = ms / (requests + 1)
    this.#leastGapMs = Math.min(gapMs, least)
    if (requests > FORGOTTEN) this.#anchor = undefined
    return gapMs
  }

  #grow(now: number): void {
    if (this.#gapMs > this.#leastGapMs) this.#gapMs = Math.max(this.#leastGapMs, this.#gapMs / (1 + UNCERTAIN))
    else if (--this.#hold <= 0) this.#test(now)
  }

  /** Sends a little faster, until a request is refused, or the rate is proven: a window refuses requests at its end. */
  #test(now: number): void {
    const isNew = this.#provenGapMs === 0
    if (isNew || (++this.#unrefused >= FASTER && now - this.#testedAtMs > (this.#window?.ms ?? 0))) {
      this.#growth = isNew ? TEST : Math.min(MOST, this.#growth * 2)
      this.#provenGapMs = this.#gapMs
      this.#testedAtMs = now
      this.#unrefused = 0
    }
    this.#gapMs = Math.max(this.#gapMs / (1 + this.#growth), this.#provenGapMs / STEP)
    this.#leastGapMs = this.#gapMs
  }

  /** The first try after a rate was found to be too high is early, because a bucket has units again. */
  #tryAfterMs(now: number): number {
    const sinceMs = Math.max(0, now - this.#beganMs)
    const windowMs = this.#window?.ms ?? 0
    if (this.#isDown) return nextTryMs(0, this.#tries)
    if (this.#gapMs === 0) return nextTryMs(sinceMs, this.#tries, now - this.#exhaustedMs)
    if (this.#tries === 1 || windowMs === 0) return this.#gapMs * 2 ** Math.min(20, this.#tries)
    return windowMs - (sinceMs % windowMs)
  }
}
