import { AWAITED } from '../clock.ts'
import type { Backend, Charge, Clock, MaybePromise, Moment } from '../contracts.ts'
import { isPromise } from '../maybe-promise.ts'
import { Observers } from '../observers.ts'
import { causeOf, isOfOneKey, LateError, mayHaveCounted } from './backend-failure.ts'
import { Deadlines, type Outcome } from './deadlines.ts'
import type { Health } from './health.ts'
import type { Basis } from './own-units.ts'

type Operation = 'take' | 'peek' | 'adjust' | 'reset'
export type Target = Pick<Charge, 'key' | 'step' | 'count'>

/** When a call is made, and until when its answer is waited for. */
export type Limits = Required<Pick<Moment, 'now' | 'deadlineAt'>>

/** One call of a backend: how it is made, what its answer is worth, and who answers instead. */
export interface Call<T, R> {
  readonly operation: Operation
  /** `now` is a reading of the process clock, whatever `limits` has. */
  send(limits: Limits, now: number): MaybePromise<T>
  /** Where it throws, the answer was none. */
  answered(answer: T, now: number): R
  /** The failure rule; never throws. `basis`: whether the backend may have done what it was asked to. */
  ruled(now: number, basis: Basis): R
}

/** Calls of a backend that always end: in time, by its answer or by the failure rule. Tells health how each went. */
export class GuardedCalls {
  /** Told of failures. */
  readonly observers: Observers = new Observers()
  readonly #backend: Backend
  readonly #health: Health
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #deadlines: Deadlines
  /** Of calls that nobody awaits. */
  readonly #background: Deadlines
  readonly #late: LateError
  readonly #repay: () => void
  #closing = false

  /** `repay` does what the backend is owed: called after an answer while anything is. */
  constructor(backend: Backend, health: Health, clock: Clock, deadlineMs: number, repay: () => void) {
    this.#repay = repay
    this.#backend = backend
    this.#health = health
    this.#clock = clock
    this.#deadlineMs = deadlineMs
    this.#deadlines = new Deadlines(clock, deadlineMs, AWAITED)
    this.#background = new Deadlines(clock, deadlineMs)
    this.#late = new LateError(deadlineMs)
  }

  /** Calls the backend, as its breaker admitted. At once where it answers at once. */
  call<T, R>(call: Call<T, R>, moment?: Moment): MaybePromise<R> {
    return this.#call(call, this.#deadlines, moment)
  }

  /** A call that nobody awaits. */
  callUnawaited<T, R>(call: Call<T, R>): void {
    void this.#call(call, this.#background)
  }

  #call<T, R>(call: Call<T, R>, deadlines: Deadlines, moment?: Moment): MaybePromise<R> {
    const now = this.#clock.now()
    const soonestAt = now + this.#deadlineMs
    const { now: asOf = now, deadlineAt = soonestAt } = moment ?? {}
    try {
      const answer = call.send({ now: asOf, deadlineAt: Math.min(soonestAt, deadlineAt) }, now)
      if (!isPromise(answer)) return this.#came(call, answer, now)
      return deadlines.race(Promise.resolve(answer), new GuardedCalls.#Outcome(this, call, now), now)
    } catch (error) {
      return this.#failed(call, error, now)
    }
  }

  /** Counts a call that the breaker did not admit. True for whoever shall ask meanwhile how the backend is. */
  passedOver(now: number): boolean {
    this.#health.log.ruled()
    return this.#health.breaker.mayProbe(now)
  }

  /** Asks in the background how the backend is. */
  probe(targets: readonly Target[], now: number): void {
    const probed = (): void => this.#health.breaker.probed(this.#clock.now() - now, this.#deadlineMs)
    // an error of one key is an answer, too
    const failed = (error: unknown): void => (isOfOneKey(error) ? probed() : undefined)
    try {
      const charges = targets.map(({ key, step, count }) => ({ key, step, count, cost: 0 }))
      // without a deadline: one that is answered late tells that a stall is over
      Promise.resolve(this.#backend.peek(charges, { now })).then(probed, failed)
    } catch (error) {
      failed(error)
    }
  }

  /** Ends all waits by the failure rule, and the timer. */
  close(): void {
    this.#closing = true
    this.#deadlines.close()
    this.#background.close()
    this.#closing = false
    this.observers.clear()
  }

  /** What becomes of a call that waits. */
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
      return this.#calls.#came(this.#call, value, this.#calls.#clock.now())
    }

    failed(error: unknown): R {
      return this.#calls.#failed(this.#call, error, this.#calledAt)
    }

    late(): R {
      return this.#calls.#failed(this.#call, this.#calls.#late, this.#calledAt)
    }
  }

  #came<T, R>(call: Call<T, R>, answer: T, now: number): R {
    let worth: R
    try {
      worth = call.answered(answer, now)
    } catch (error) {
      return this.#failed(call, error, now)
    }
    this.#health.breaker.succeeded()
    if (this.#health.owed.any) this.#repay()
    return worth
  }

  #failed<T, R>(call: Call<T, R>, error: unknown, calledAt: number): R {
    const { breaker, log } = this.#health
    log.ruled()
    if (!this.#closing) {
      const cause = causeOf(error)
      if (isOfOneKey(error)) {
        breaker.succeeded()
        log.failed(cause, error)
      } else this.#health.failed(cause, error, calledAt)
      this.observers.event('backendFailed', { backend: this.#backend.name, operation: call.operation, cause, error })
    } else breaker.abandoned()
    return call.ruled(this.#clock.now(), mayHaveCounted(error) ? 'unsure' : 'uncounted')
  }
}
