import { messageOf, type SluiceCode } from '../errors/errors.ts'
import { LimiterWarnings } from './limiter-warnings.ts'
import type { Observers } from './observers.ts'

/**
 * Reports failures of one limiter: to its observers each time, and to stderr once per kind, with the names of the
 * limiter.
 */
export class LimiterReport {
  readonly observers: Observers
  readonly #warnings: LimiterWarnings

  constructor(observers: Observers, names: () => readonly string[]) {
    this.observers = observers
    this.#warnings = new LimiterWarnings(names)
  }

  /** Reports that a user's function failed; `then` describes the consequence for the request. */
  hookFailed(hook: string, error: unknown, then: string): void {
    this.observers.event('hookFailed', { hook, error })
    this.warnOnce('SLUICE_HOOK_FAILED', () => `${hook} failed, ${then}: ${messageOf(error)}`, hook)
  }

  /** Reports a backend failure that no other part reports; `then` describes the consequence for the request. */
  backendFailed(error: unknown, then: string): void {
    this.observers.event('backendFailed', { error })
    this.warnOnce('SLUICE_BACKEND_FAILED', () => `${then}: ${messageOf(error)}`, then)
  }

  /** Warns about problems that observers do not receive, or receive in another way. */
  warnOnce(code: SluiceCode, message: () => string, about?: string): void {
    this.#warnings.once(code, message, about)
  }
}
