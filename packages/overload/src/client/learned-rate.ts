import { CallRate } from './call-rate.ts'
import { Pace, type Sent } from './pace.ts'
import { Replies } from './replies.ts'
import { Silence } from './silence.ts'

/** Limits of upstreams are usually per second: shorter times show only a part of a window. */
const WINDOW_MS = 1_000
/** Requests per ms that an upstream receives which accepts nothing, and the least for one that accepts some. */
const [PROBES, LEAST] = [1 / 1_000, 1 / 10_000]
/** Growth of the logarithm of a rate per ms: beyond a proven rate, below a refused one, at most, after an outage. */
const [TEST, SEARCH, MOST, RETURN] = [0.01 / 1_000, 0.1 / 1_000, 0.25 / 1_000, Math.LN2 / 250]
/** Growth becomes faster by this factor per second. */
const ACCELERATION = 1.5
/** A rate grows by at most this part in the time that a reply takes, except after an outage. */
const PER_REPLY = 0.15
/** A rate grows at most for this time between two calls. */
const GROWTH_MS = 250
/** Part of the requests that tests of higher rates may cost. */
const TEST_COST = 0.03
/** Longest time before the next test, and the longest wait that a test is taken to cost, in ms. */
const [LONGEST_HOLD_MS, LONGEST_WAIT_MS] = [40_000, 5_000]
/** Refused requests from which on a paced rate is too high. An accepted one makes up for this part of one. */
const [PACED_EVIDENCE, PACED_TOLERANCE] = [3, 0.15]
/** A rate is proven if this many requests, and as many as it sends in a second, were accepted. */
const PROOF = 5
const SMALL_CUT = 0.93
const MOST_AFTER_CUT = 0.9
/** An upstream that accepts this share of all requests is taken to accept bursts. */
const TOLERANT = 0.65
/** Number of accepted requests that show the rate of an upstream, and not only a lower bound. */
const MEASURED = 10
const NOT_LIMITED_MS = 5_000

/**
 * The rate at which an upstream accepts requests, as its replies show. It has no limit until requests are refused. Then
 * requests are paced: the rate grows until requests are refused again, returns to the highest proven rate, and is tested
 * again when as many requests were accepted as make the cost of the test small.
 */
export class LearnedRate {
  readonly #tolerance: number
  readonly #evidence: number
  readonly #windowMs: number
  readonly #calls = new CallRate()
  readonly #pace = new Pace()
  readonly #silence = new Silence()
  readonly #replies = new Replies()
  /** Refused requests above what is tolerated. */
  #refused = 0
  /** Requests that were sent before do not count. */
  #changedAtMs = -Infinity
  #proven = 0
  #tried = 0
  #proof = 0
  #cuts = 0
  #stepAtMs = 0
  #ceiling = Infinity
  /** Accepted requests until the rate may grow beyond the ceiling. */
  #hold = 0
  #growth = TEST
  #grownAtMs = 0
  #limitedAtMs = -Infinity

  /**
   * `tolerance`: refused requests for each accepted one without a limit; `evidence`: those above it until there is one;
   * `windowMs`: time without calls after which nothing is remembered.
   */
  constructor(tolerance: number, evidence: number, windowMs: number) {
    this.#tolerance = tolerance
    this.#evidence = evidence
    this.#windowMs = windowMs
  }

  /** Requests per second; `Infinity` if all are sent. */
  get perSecond(): number {
    return this.#pace.perMs * 1_000
  }

  get #isPaced(): boolean {
    return this.#pace.perMs !== Infinity
  }

  /** Whether the upstream is taken for healthy, as before and after an outage, and some failures are tolerated. */
  get #isSure(): boolean {
    return !this.#isPaced || this.#growth === RETURN
  }

  /** Counts a call of the application, whether it is sent or not. */
  count(now: number): void {
    if (this.#calls.idleMs(now) > this.#windowMs) this.#forget(now)
    if (!this.#calls.count(now)) return
    if (this.#growth !== RETURN) this.#pace.compare(this.#hold === 0)
    if (!this.#isPaced) this.#replies.age(now)
  }

  /** Returns the request if it is to be sent. */
  admit(now: number): Sent | undefined {
    if (this.#isPaced) this.#grow(now)
    if (this.#silence.isSilent(now)) this.#probe(now)
    const sent = this.#pace.take(now)
    if (sent) this.#silence.sent(now)
    else this.#limitedAtMs = now
    return sent
  }

  /** Sends nothing before, and no burst after it. */
  pauseUntil(ms: number): void {
    if (this.#isPaced) this.#pace.pauseUntil(ms)
  }

  abandon(): void {
    this.#silence.abandoned()
  }

  /** Learns from a reply. `waitMs`: the time for which the upstream asks for no requests. */
  learn(sent: Sent, isAccepted: boolean, waitMs: number, now: number): void {
    this.#silence.answered()
    if (isAccepted) this.#silence.accepted(now - sent.atMs)
    // requests that were sent at an earlier rate
    if (sent.atMs < this.#changedAtMs) return
    if (isAccepted) this.#accept(sent, now)
    else this.#refuse(sent, waitMs, now)
  }

  #accept(sent: Sent, now: number): void {
    this.#replies.add(sent.atMs, true)
    const tolerance = this.#isSure ? this.#tolerance : PACED_TOLERANCE
    this.#refused = Math.max(0, this.#refused - tolerance)
    this.#hold = Math.max(0, this.#hold - 1)
    if (!this.#isPaced) return
    if (this.#ceiling === PROBES) {
      // timeouts of requests that were sent before are about the outage
      this.#changedAtMs = sent.atMs
      this.#refused = 0
    }
    this.#pace.accept(sent, this.#hold === 0)
    if (this.#limitedAtMs < this.#stepAtMs) return
    const needed = Math.max(PROOF, Math.min(this.#pace.perMs, this.#calls.perMs) * WINDOW_MS)
    if (++this.#proof < needed || now - this.#stepAtMs < WINDOW_MS) return
    this.#proof = this.#cuts = 0
    this.#stepAtMs = now
    this.#proven = this.#tried
    this.#tried = this.#pace.perMs
    this.#replies.age(sent.atMs)
  }

  #refuse(sent: Sent, waitMs: number, now: number): void {
    // while single requests are sent, only an accepted one shows something new
    if (this.#ceiling === PROBES) return
    this.#replies.add(sent.atMs, false)
    const isPaced = this.#isPaced
    const isBurst = isPaced && this.#pace.blamesBurst(sent, sent.atMs - this.#changedAtMs < WINDOW_MS)
    if (!isBurst) this.#refused++
    // one refusal that asks to wait costs as much as many others
    const isClear = waitMs > 0 && (isPaced || this.#hold > 0)
    const isTooMany = this.#refused >= (this.#isSure ? this.#evidence : PACED_EVIDENCE)
    if (!isBurst && (isClear || isTooMany)) this.#lower(sent, waitMs, now)
    else if (isBurst || waitMs > 0) this.#holdFor(1, waitMs)
  }

  #holdFor(lost: number, waitMs: number): void {
    const perMs = Math.min(this.#pace.perMs, this.#calls.perMs)
    const lostWaiting = waitMs > 0 ? perMs * (Math.min(waitMs, LONGEST_WAIT_MS) + this.#silence.longestMs) : 0
    const accepts = Math.min(lost / TEST_COST, PROOF + perMs * LONGEST_HOLD_MS) + lostWaiting / TEST_COST
    this.#hold = Math.max(this.#hold, accepts)
  }

  #lower(sent: Sent, waitMs: number, now: number): void {
    const before = Math.min(this.#pace.perMs, this.#calls.perMs)
    const isFirst = !this.#isPaced
    const perMs = isFirst ? this.#estimate(sent, before, 1) : this.#lowerRate(sent, waitMs, before)
    if (perMs === undefined) return
    const tokens = isFirst ? this.#start(perMs) : this.#slow(perMs, before, waitMs)
    this.#growth = SEARCH
    this.#tried = this.#refused = this.#proof = 0
    if (this.#replies.accepted === 0 && perMs < PROBES) this.#probe(now)
    this.#pace.perMs = Math.max(this.#pace.perMs, LEAST)
    this.#pace.restart(tokens, now)
    this.#changedAtMs = this.#stepAtMs = this.#grownAtMs = this.#limitedAtMs = now
    this.#replies.clear()
  }

  /** Returns the number of requests that may be sent at once: a second's worth if most were accepted. */
  #start(perMs: number): number {
    const isTolerant = this.#replies.share > TOLERANT
    this.#pace.start(perMs, perMs * WINDOW_MS, isTolerant)
    this.#ceiling = Infinity
    this.#hold = 0
    return isTolerant ? this.#pace.burst : 0
  }

  #slow(perMs: number, before: number, waitMs: number): number {
    this.#pace.perMs = perMs
    if (waitMs > 0 && this.#pace.burst > 1) this.#pace.burst /= 2
    this.#ceiling = (perMs + before) / 2
    this.#hold = 0
    this.#holdFor(this.#refused, waitMs)
    return 0
  }

  /** Returns undefined if the rate was lowered less than a window ago, since windows refuse all at their end. */
  #lowerRate(sent: Sent, waitMs: number, before: number): number | undefined {
    const cuts = this.#cuts
    if (cuts === 0 && this.#proven > 0 && this.#pace.perMs > this.#proven) {
      this.#cuts++
      return this.#proven
    }
    if (waitMs === 0 && sent.atMs - this.#changedAtMs < WINDOW_MS) return undefined
    this.#cuts++
    if (cuts < 2 && this.#proven > 0 && (this.#replies.accepted > 0 || waitMs > 0)) return before * SMALL_CUT
    return this.#estimate(sent, before, MOST_AFTER_CUT)
  }

  /** Returns the rate of accepted requests. Few of them are only a lower bound. */
  #estimate(sent: Sent, before: number, most: number): number {
    const replies = this.#replies
    const upper = before * Math.min(most, replies.share)
    const lower = replies.acceptedPerMs(sent.atMs, WINDOW_MS)
    this.#proven = 0
    return Math.min(upper, replies.accepted >= MEASURED ? lower : Math.sqrt(lower * upper))
  }

  /** Sends single requests until one is accepted. */
  #probe(now: number): void {
    const pace = this.#pace
    if (pace.perMs === PROBES && this.#growth === RETURN) return
    pace.perMs = this.#ceiling = PROBES
    pace.burst = 0
    pace.restart(Math.min(1, (now - pace.lastAtMs) * PROBES), now)
    this.#proven = this.#tried = 0
    this.#growth = RETURN
    this.#hold = 1
    this.#grownAtMs = now
  }

  #grow(now: number): void {
    const pace = this.#pace
    const ms = Math.min(now - this.#grownAtMs, GROWTH_MS)
    this.#grownAtMs = now
    pace.refill(now, GROWTH_MS)
    if (now - this.#limitedAtMs > NOT_LIMITED_MS) this.#open()
    else if (this.#limitedAtMs >= this.#stepAtMs && !pace.needsBurst) this.#raise(ms)
  }

  #raise(ms: number): void {
    const pace = this.#pace
    const isReturn = this.#growth === RETURN
    if (this.#hold === 0 && this.#ceiling !== Infinity) {
      this.#ceiling = Infinity
      if (!isReturn) this.#growth = TEST
    }
    const before = pace.perMs
    if (before >= this.#ceiling) return
    const growth = isReturn ? RETURN : Math.min(this.#growth, PER_REPLY / this.#silence.longestMs)
    const from = isReturn ? Math.max(before, this.#calls.perMs / 64) : before
    pace.perMs = Math.min(from * Math.exp(growth * ms), Math.max(before, this.#ceiling))
    if (!isReturn) this.#growth = Math.min(MOST, this.#growth * ACCELERATION ** (ms / 1_000))
    this.#finish(before)
  }

  /** Sends all if more than the application calls is proven. */
  #finish(before: number): void {
    const calls = this.#calls.perMs
    if (this.#pace.perMs < 2 * calls) return
    if (this.#proven >= calls) {
      this.#open()
    } else {
      this.#pace.perMs = Math.max(before, 2 * calls)
      this.#pace.burst = Math.max(this.#pace.burst, calls * WINDOW_MS)
    }
  }

  #open(): void {
    this.#pace.start(Infinity, 0, false)
    this.#replies.clear()
    this.#proven = this.#tried = this.#hold = this.#refused = 0
    this.#ceiling = Infinity
    this.#growth = TEST
  }

  #forget(now: number): void {
    this.#open()
    this.#calls.reset(now)
    this.#silence.answered()
  }
}
