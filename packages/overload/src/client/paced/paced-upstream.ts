import { levelOf, type Waiter, WaitingRoom } from '@sluice/http/overload'
import type { MaybePromise } from '@sluice/limiter-core'
import { andThen, isPromise, KEEP_ALIVE } from '@sluice/limiter-core/backend'
import { RetryBudget } from '../retry-budget.ts'
import type { RetryRules } from '../throttle-options.ts'
import { ThrottledError } from '../throttled-error.ts'
import { ageMs, type Caller, type Reply, type Upstream, type UpstreamStats } from '../upstream.ts'
import type { Waits } from '../waits.ts'
import { AnnouncedBudgets } from './announced-budgets.ts'
import type { Line, Place } from './line.ts'
import { ProbedRate, type Turn } from './probed-rate.ts'

/** Counts and state of one origin and partition. */
export interface PacedStats extends UpstreamStats {
  /** Calls that wait for their turn. */
  readonly waiting: number
  readonly inFlight: number
  /** Requests that are left of the announced budgets; undefined if none were announced. */
  readonly remaining: number | undefined
  /** Milliseconds between two requests; 0 if they are not spread. */
  readonly gapMs: number
  /** Milliseconds until the next request may be sent, because the upstream asked for none or a budget is used up. */
  readonly waitMs: number
}

export interface PacedRules extends RetryRules {
  readonly maxWaitMs: number
  readonly maxWaiting: number
  readonly waits: Waits
}

interface Waiting extends Waiter {
  send(turn: Turn): void
}

/** After a process has sent a request, other processes have this time to send the next one. */
const TURN_MS = 2
/** While an upstream does not answer, one more request is sent after this time; the second one, after it has refused. */
const [SLOW_MS, HUNG_MS] = [250, 10_000]
/** Refusals that budgets explain, and the part of the accepted calls by which they become fewer. */
const [MOST_EXPLAINED, EXPLAINED_PART] = [4, 0.01]
/** Wait after a call of the backend that failed, if its failure rule does not decide. */
const FAILED_MS = 100

/** Sends calls one after another, as the upstream announces or shows that it accepts them. Other calls wait. */
export class PacedUpstream implements Upstream<Turn> {
  readonly retries: RetryBudget
  readonly stats = { sent: 0, retried: 0, throttled: 0 }
  readonly #rules: PacedRules
  readonly #line: Line
  readonly #room: WaitingRoom<Waiting>
  readonly #rate: ProbedRate
  readonly #budgets: AnnouncedBudgets
  #inFlight = 0
  /** The gap of the fleet that includes what this process has found. */
  #publishedUs = 0
  /** Order of the call that was sent last. */
  #order = -1
  /** Refusals above what budgets explain. */
  #explained = 0
  #quietSinceMs = 0
  #blockedUntilMs = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  #isTaking = false

  constructor(rules: PacedRules, line: Line) {
    this.#rules = rules
    this.#line = line
    this.#rate = new ProbedRate(line.mostFirst)
    this.retries = new RetryBudget(rules.retryBudget)
    this.#room = new WaitingRoom({ max: rules.maxWaiting, maxWaitMs: rules.maxWaitMs, isPatient: true }, rules.clock)
    this.#budgets = new AnnouncedBudgets(rules.maxRetryAfterMs, line.mostFirst)
  }

  get snapshot(): PacedStats {
    const now = this.#rules.clock.now()
    return {
      ...this.stats,
      waiting: this.#room.size,
      inFlight: this.#inFlight,
      remaining: this.#budgets.remaining,
      gapMs: this.#gapMs(now),
      waitMs: this.#waitMs(now),
    }
  }

  admit(caller: Caller, times: number): Promise<Turn | ThrottledError> {
    const { signal, priority, sinceMs } = caller
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const now = this.#rules.clock.now()
      const waitMs = this.#waitMs(now)
      const leftMs = this.#rules.maxWaitMs - ageMs(caller, now)
      if (waitMs > leftMs) return resolve(this.#tooLate(waitMs))
      const left = (): void => {
        leave()
        reject(signal?.reason)
        this.#serve()
      }
      const settle = (result: Turn | ThrottledError): void => {
        signal?.removeEventListener('abort', left)
        resolve(result)
      }
      const leave = this.#room.add(
        {
          // calls that were sent before go first among those of their priority
          level: levelOf(priority, Math.min(times, 100)),
          weight: 1,
          admit() {},
          send: settle,
          refuse: (reason) => settle(this.#refusal(reason)),
        },
        sinceMs,
      )
      signal?.addEventListener('abort', left, { once: true })
      this.#serve()
    })
  }

  learn(turn: Turn, { kind, waitMs, budgets = [], isLimit = false }: Reply): void {
    const { clock, maxRetryAfterMs } = this.#rules
    const now = clock.now()
    this.#inFlight--
    this.#quietSinceMs = now
    const boundedMs = Math.min(waitMs, maxRetryAfterMs)
    this.#budgets.learn(budgets, turn.atMs, Math.max(0, this.#order - turn.order), now)
    // a budget that is used up explains a refusal, unless that happens again and again
    const isExplained = budgets.some(({ remaining }) => remaining === 0) && this.#explained < MOST_EXPLAINED
    this.#explained = Math.max(0, this.#explained + (kind === 'refused' ? 1 : -EXPLAINED_PART))
    const wasTrying = this.#rate.isTrying
    let blockedMs = 0
    if (kind === 'accepted') this.#rate.accepted(turn, now)
    else if (kind === 'overloaded') blockedMs = this.#rate.failed(turn, now)
    else if (kind === 'refused') blockedMs = isExplained ? boundedMs : this.#rate.refused(turn, boundedMs, isLimit, now)
    if (kind === 'refused') ignoreFailure(this.#line.uncount())
    this.#block(blockedMs, now)
    // other processes read only in their own responses that a budget is used up
    if (this.#line.isShared && budgets.length > 0) ignoreFailure(this.#line.block(this.#budgets.waitMs(now)))
    if (wasTrying && !this.#rate.isTrying) ignoreFailure(this.#line.publish(this.#unpublishedUs()))
    this.#serve()
  }

  /** Rejects the calls that wait. */
  readonly #close = (): void => {
    this.#cancelLater()
    this.#room.close()
  }

  #block(ms: number, now: number): void {
    if (ms <= 0 || now + ms <= this.#blockedUntilMs) return
    this.#blockedUntilMs = now + ms
    ignoreFailure(this.#line.block(ms))
    if (ms > this.#rules.maxWaitMs) this.#room.close()
  }

  /** Sends calls until there are none, or the next one has to wait. */
  #serve(): void {
    for (let waitMs: number | undefined = 0; waitMs === 0 && this.#room.size > 0 && !this.#isTaking; ) {
      waitMs = this.#serveOne()
      if (waitMs) this.#serveLater(waitMs)
    }
    if (this.#room.size > 0) this.#rules.waits.add(this.#close)
    else {
      this.#rules.waits.delete(this.#close)
      this.#cancelLater()
    }
  }

  /** Sends a call. Returns the milliseconds that it has to wait, 0 if it was sent, undefined while the backend decides. */
  #serveOne(): number | undefined {
    const now = this.#rules.clock.now()
    const waitMs = this.#waitMs(now)
    if (waitMs > 0) return waitMs
    if (this.#inFlight >= this.#mostInFlight(now)) return SLOW_MS
    this.#isTaking = true
    const served = andThen(this.#line.take(), (place) => this.#send(place))
    if (isPromise(served)) {
      served.catch(() => FAILED_MS).then((ms) => this.#served(ms))
      return undefined
    }
    this.#isTaking = false
    return served
  }

  #served(waitMs: number): void {
    this.#isTaking = false
    if (waitMs > 0) this.#serveLater(waitMs)
    else this.#serve()
  }

  #send({ waitMs, order, gapUs }: Place): MaybePromise<number> {
    if (waitMs > 0) return waitMs
    const now = this.#rules.clock.now()
    const turn = { atMs: now, order }
    if (gapUs !== undefined) this.#adopt(gapUs, turn)
    const waiting = this.#room.next(1, 1)
    // it was aborted while the place was taken
    if (!waiting) {
      ignoreFailure(this.#line.uncount())
      return 0
    }
    const others = this.#order < 0 ? 0 : Math.max(0, order - this.#order - 1)
    this.#order = order
    const gapMs = this.#rate.isTrying ? Math.max(this.#gapMs(now), this.#line.tryGapMs) : this.#gapMs(now)
    this.#rate.sent(turn, this.#room.size > 0)
    this.#budgets.take(1 + others)
    if (this.#inFlight++ === 0) this.#quietSinceMs = now
    waiting.send(turn)
    const occupied = this.#line.occupy(gapMs, this.#unpublishedUs())
    // other processes go first
    return isPromise(occupied) ? occupied.then(() => (gapMs > 0 ? gapMs + TURN_MS : 0)) : 0
  }

  /** Takes over the gap of the fleet, and what this process has not published yet. */
  #adopt(gapUs: number, turn: Turn): void {
    if (gapUs === 0 && this.#rate.gapMs > 0) this.#publishedUs = 0
    else if (gapUs !== this.#publishedUs) {
      const moreMs = this.#rate.gapMs - this.#publishedUs / 1_000
      this.#publishedUs = gapUs
      this.#rate.adopt(Math.max(0, gapUs / 1_000 + moreMs), turn)
    }
  }

  /** Returns by how much the gap has changed since it was published, and takes it for published. */
  #unpublishedUs(): number {
    const gapUs = Math.round(this.#rate.gapMs * 1_000)
    const moreUs = gapUs - this.#publishedUs
    this.#publishedUs = gapUs
    return moreUs
  }

  #cancelLater(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #serveLater(ms: number): void {
    this.#cancelLater()
    if (this.#rules.waits.isClosed) {
      this.#room.close()
      return
    }
    this.#cancelTimer = this.#rules.clock.after(
      // a timer has a longest duration, and no call waits longer than this
      Math.min(ms, this.#rules.maxWaitMs),
      () => {
        this.#cancelTimer = undefined
        this.#serve()
      },
      KEEP_ALIVE,
    )
  }

  #mostInFlight(now: number): number {
    if (this.#budgets.size > 0 && !this.#rate.isTrying) return Number.POSITIVE_INFINITY
    const slowMs = this.#rate.isTrying ? HUNG_MS : SLOW_MS
    return this.#rate.mostInFlight + Math.floor(Math.max(0, now - this.#quietSinceMs) / slowMs)
  }

  #waitMs(now: number): number {
    return Math.max(0, this.#blockedUntilMs - now, this.#budgets.waitMs(now))
  }

  #gapMs(now: number): number {
    return Math.max(this.#budgets.gapMs(now), this.#rate.gapMs)
  }

  #tooLate(waitMs: number): ThrottledError {
    return new ThrottledError(`its turn is in ${Math.ceil(waitMs)} ms, later than maxWaitMs`, Math.ceil(waitMs))
  }

  #refusal(reason: 'queue-full' | 'timeout' | 'weight'): ThrottledError {
    const waitMs = Math.ceil(this.#waitMs(this.#rules.clock.now()))
    const why = reason === 'queue-full' ? 'too many calls are waiting' : 'its turn did not come within maxWaitMs'
    return new ThrottledError(why, waitMs)
  }
}

/** While the backend fails, each process has a pace of its own. */
function ignoreFailure(call: MaybePromise<unknown>): void {
  if (isPromise(call)) call.catch(() => {})
}
