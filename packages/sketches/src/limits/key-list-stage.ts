import {
  AWAITED,
  Breaker,
  type BreakerState,
  causeOf,
  Deadlines,
  FailureLog,
  isPromise,
  kindOf,
  LateError,
  type MaybePromise,
  Observers,
  SluiceError,
} from '@sluice/limiter-core'
import type { KeyListPlan } from './key-list-options.ts'

/** Told what `exact` said of a key. `asOf`: what `version` answered when it was asked. */
interface StageListener {
  version(): number
  answered(key: string, answer: boolean, asOf: number): void
  /** The rule answered instead. */
  ruled(): void
}

/**
 * The second stage of a list: asks `exact`, and always answers, within the deadline and by the rule where need be. While
 * the breaker is open nobody waits: one question a second finds out whether `exact` answers again.
 */
export class KeyListStage {
  readonly observers: Observers
  readonly #plan: KeyListPlan
  readonly #listener: StageListener
  readonly #deadlines: Deadlines
  readonly #breaker: Breaker
  readonly #log: FailureLog
  readonly #late: LateError
  #cause = ''
  #closing = false

  constructor(plan: KeyListPlan, listener: StageListener) {
    const { clock, deadlineMs } = plan
    this.#plan = plan
    this.#listener = listener
    this.observers = new Observers(plan.observers)
    this.#deadlines = new Deadlines(clock, deadlineMs, AWAITED)
    this.#breaker = new Breaker({ clock, deadlineMs, changed: (state) => this.#changed(state) })
    this.#log = new FailureLog(plan.name, clock)
    this.#late = new LateError(deadlineMs)
  }

  /** Whether `key` is on the list. Never throws and never rejects. */
  ask(key: string): MaybePromise<boolean> {
    if (!this.#breaker.admits()) return this.#meanwhile(key)
    const asOf = this.#listener.version()
    try {
      const answer = this.#plan.exact(key)
      if (!isPromise(answer)) return this.#answered(key, answer, asOf)
      return this.#deadlines.race(Promise.resolve(answer), {
        answered: (value) => this.#answered(key, value, asOf),
        failed: (error) => this.#failed(error),
        late: () => this.#failed(this.#late),
      })
    } catch (error) {
      return this.#failed(error)
    }
  }

  /** Ends all waits by the rule, and the timer. */
  close(): void {
    this.#closing = true
    this.#deadlines.close()
    this.#closing = false
  }

  #answered(key: string, answer: boolean, asOf: number): boolean {
    if (typeof answer !== 'boolean') return this.#failed(notSaid(answer))
    this.#breaker.succeeded()
    this.#listener.answered(key, answer, asOf)
    return answer
  }

  #failed(error: unknown): boolean {
    const answer = this.#rule()
    if (this.#closing) this.#breaker.abandoned()
    else {
      this.#cause = causeOf(error)
      this.#breaker.failed()
      this.#log.failed(this.#cause, error)
      this.observers.event('backendFailed', { backend: this.#plan.name, operation: 'has', cause: this.#cause, error })
    }
    return answer
  }

  #rule(): boolean {
    this.#log.ruled()
    this.#listener.ruled()
    return this.#plan.onError
  }

  /** While the breaker is open: by the rule, and the question of one second goes out in the background. */
  #meanwhile(key: string): boolean {
    const { clock, exact } = this.#plan
    const now = clock.now()
    if (this.#breaker.mayProbe(now)) {
      const probed = (answer: unknown): void => {
        if (typeof answer === 'boolean') this.#breaker.probed(clock.now() - now)
      }
      new Promise((resolve) => resolve(exact(key))).then(probed, () => {})
    }
    return this.#rule()
  }

  #changed(state: BreakerState): void {
    if (state === 'closed') this.#log.back()
    this.observers.event('breaker', { backend: this.#plan.name, state, cause: this.#cause })
  }
}

function notSaid(answer: unknown): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `exact answered ${kindOf(answer)}, expected true or false`)
}
