import { causeOf, concernsOneKey, LateError, mayHaveCounted } from '../backend/backend-failure.ts'
import { isPromise } from '../contracts/maybe-promise.ts'
import type { Clock, MaybePromise, Moment } from '../contracts.ts'
import type { Observers } from '../observers/observers.ts'
import { KEEP_ALIVE } from '../time/clock.ts'
import { Deadlines, type Outcome } from './health/deadlines.ts'
import type { Health } from './health/health.ts'
import type { Basis } from './own-units.ts'

/** The time of a call, and the time until which its answer is awaited. */
export type Limits = Required<Pick<Moment, 'now' | 'deadlineAt'>>

/** A call that may fail: how to send it, how to use its answer, and what to return if it fails. */
export interface Call<T, R> {
  /** Name in events, such as `take`. */
  readonly operation: string
  /** `now` is the process time, independent of the clock in `limits`. */
  send(limits: Limits, now: number): MaybePromise<T>
  /** Converts the answer to the result. Throws if the answer is invalid. */
  answered(answer: T, now: number): R
  /** Returns the result of the failure rule; never throws. `basis`: whether the backend may have applied the call. */
  fallback(now: number, basis: Basis): R
}

export interface GuardedCallsOptions {
  readonly health: Health
  readonly observers: Observers
  readonly clock: Clock
  readonly deadlineMs: number
  /** Called after each valid answer. */
  readonly answered?: (() => void) | undefined
}

/** Makes calls that always end within the deadline: with an answer, or by the failure rule. */
export class GuardedCalls {
  readonly #options: GuardedCallsOptions
  readonly #deadlines: Deadlines
  /** Deadlines of calls whose results are not awaited. */
  readonly #background: Deadlines
  readonly #late: LateError
  #closing = false

  constructor(options: GuardedCallsOptions) {
    const { clock, deadlineMs } = options
    this.#options = options
    this.#deadlines = new Deadlines(clock, deadlineMs, KEEP_ALIVE)
    this.#background = new Deadlines(clock, deadlineMs)
    this.#late = new LateError(`no reply within ${deadlineMs} ms`, true)
  }

  /** Makes a call that the breaker admitted. Returns its result synchronously if the backend answers synchronously. */
  call<T, R>(call: Call<T, R>, moment?: Moment): MaybePromise<R> {
    return this.#call(call, this.#deadlines, moment)
  }

  callUnawaited<T, R>(call: Call<T, R>): void {
    void this.#call(call, this.#background)
  }

  #call<T, R>(call: Call<T, R>, deadlines: Deadlines, moment?: Moment): MaybePromise<R> {
    const { clock, deadlineMs } = this.#options
    const now = clock.now()
    const soonestAt = now + deadlineMs
    const { now: asOf = now, deadlineAt = soonestAt } = moment ?? {}
    try {
      const answer = call.send({ now: asOf, deadlineAt: Math.min(soonestAt, deadlineAt) }, now)
      if (!isPromise(answer)) return this.#settle(call, answer, now)
      return deadlines.race(Promise.resolve(answer), new GuardedCalls.#Outcome(this, call, now), now)
    } catch (error) {
      return this.#failed(call, error, now)
    }
  }

  /** Counts a call that the breaker did not admit. Returns true if the caller should probe the backend. */
  skipped(now: number): boolean {
    const { log, breaker } = this.#options.health
    log.countFallback()
    return breaker.mayProbe(now)
  }

  probe(send: () => MaybePromise<unknown>, now: number): void {
    const { clock, deadlineMs, health } = this.#options
    const probed = (): void => health.breaker.probed(clock.now() - now, deadlineMs)
    // an error of a single key shows that the backend works
    const failed = (error: unknown): void => (concernsOneKey(error) ? probed() : undefined)
    // also rejects if `send` throws
    new Promise((resolve) => resolve(send())).then(probed, failed)
  }

  /** Ends all pending calls by the failure rule and stops the timers. */
  close(): void {
    this.#closing = true
    this.#deadlines.close()
    this.#background.close()
    this.#closing = false
  }

  /** Outcome handlers of a pending call. */
  static readonly #Outcome = class<T, R> implements Outcome<T, R> {
    readonly #calls: GuardedCalls
    readonly #call: Call<T, R>
    readonly #calledAt: number

    constructor(calls: GuardedCalls, call: Call<T, R>, calledAt: number) {
      this.#calls = calls
      this.#call = call
      this.#calledAt = calledAt
    }

    answered(value: T): R {
      return this.#calls.#settleLate(this.#call, value, this.#calledAt)
    }

    failed(error: unknown): R {
      return this.#calls.#failed(this.#call, error, this.#calledAt)
    }

    late(): R {
      return this.#calls.#failed(this.#call, this.#calls.#late, this.#calledAt)
    }
  }

  #settle<T, R>(call: Call<T, R>, answer: T, now: number): R {
    let result: R
    try {
      result = call.answered(answer, now)
    } catch (error) {
      return this.#failed(call, error, now)
    }
    this.#options.health.breaker.succeeded()
    this.#options.answered?.()
    return result
  }

  /** Handles an asynchronous answer. */
  #settleLate<T, R>(call: Call<T, R>, answer: T, calledAt: number): R {
    const { clock, health, observers } = this.#options
    const now = clock.now()
    if (observers.any) observers.backendAnswered(health.name, now - calledAt)
    return this.#settle(call, answer, now)
  }

  #failed<T, R>(call: Call<T, R>, error: unknown, calledAt: number): R {
    const { clock, health, observers } = this.#options
    if (!this.#closing) {
      const cause = causeOf(error)
      health.failed(cause, error, calledAt)
      observers.event('backendFailed', { backend: health.name, operation: call.operation, cause, error })
    } else health.breaker.abandoned()
    health.log.countFallback() // after the failure, so that no earlier one is printed for it
    return call.fallback(clock.now(), mayHaveCounted(error) ? 'unsure' : 'uncounted')
  }
}
