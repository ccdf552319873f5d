import { messageOf, type SluiceCode } from '../errors/errors.ts'
import { LimiterWarnings } from './limiter-warnings.ts'
import type { Observers } from './observers.ts'

/** Tells what fails of one limiter: its observers each time, stderr once for each kind and by the limiter's names. */
export class LimiterReport {
  readonly observers: Observers
  readonly #warnings: LimiterWarnings

  constructor(observers: Observers, names: () => readonly string[]) {
    this.observers = observers
    this.#warnings = new LimiterWarnings(names)
  }

  /** A function of the user's failed; `then` says what becomes of the request. */
  hookFailed(hook: string, error: unknown, then: string): void {
    this.observers.event('hookFailed', { hook, error })
    this.warnOnce('SLUICE_HOOK_FAILED', () => `${hook} failed, ${then}: ${messageOf(error)}`, hook)
  }

  /** A backend failed that is no other's to tell of; `then` says what became of the request. */
  backendFailed(error: unknown, then: string): void {
    this.observers.event('backendFailed', { error })
    this.warnOnce('SLUICE_BACKEND_FAILED', () => `${then}: ${messageOf(error)}`, then)
  }

  /** Of what observers do not hear, or hear otherwise. */
  warnOnce(code: SluiceCode, message: () => string, about?: string): void {
    this.#warnings.once(code, message, about)
  }
}
