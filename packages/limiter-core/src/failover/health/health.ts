import type { Clock } from '../../contracts.ts'
import type { Observers } from '../../observers/observers.ts'
import { Breaker, type BreakerState } from './breaker.ts'
import { FailureLog } from './failure-log.ts'

export interface HealthOptions {
  /** Name in warnings and events. */
  readonly name: string
  readonly clock: Clock
  /** Longest duration of a successful probe, in milliseconds. */
  readonly deadlineMs: number
  readonly observers: Observers
  /** Called when the state of the breaker changes, before observers are notified. */
  readonly changed?: ((state: BreakerState) => void) | undefined
}

/** The health of a remote system: its breaker, and the warnings and events about failures and recovery. */
export class Health {
  readonly name: string
  readonly breaker: Breaker
  readonly log: FailureLog
  readonly observers: Observers
  readonly #options: HealthOptions
  #cause = ''

  constructor(options: HealthOptions) {
    const { name, clock, deadlineMs, observers } = options
    this.#options = options
    this.name = name
    this.observers = observers
    this.log = new FailureLog(name, clock)
    this.breaker = new Breaker({ clock, deadlineMs, changed: (state) => this.#changed(state) })
  }

  /** Reports that a call made at `calledAt` failed or timed out. */
  failed(cause: string, error: unknown, calledAt?: number): void {
    this.reportFailure(cause, error)
    this.breaker.failed(calledAt, cause === 'LATE')
  }

  /** Reports a failure; the caller decides how it affects the breaker. */
  reportFailure(cause: string, error: unknown): void {
    this.#cause = cause
    this.log.failed(cause, error)
  }

  #changed(state: BreakerState): void {
    this.#options.changed?.(state)
    if (state === 'closed') this.log.recovered()
    this.observers.event('breaker', { backend: this.name, state, cause: this.#cause })
  }
}
