import {
  isPreflight,
  LimiterWarnings,
  messageOf,
  type Observers,
  type RequestView,
  type SluiceCode,
} from '@sluice/limiter-core/http'

/**
 * Reports failures of one limiter: to its observers each time, and by a process warning with the names of its policies
 * once per kind of failure.
 */
export class LimiterReport {
  readonly observers: Observers
  readonly #warnings: LimiterWarnings

  constructor(observers: Observers, names: () => readonly string[]) {
    this.observers = observers
    this.#warnings = new LimiterWarnings(names)
  }

  /** Reports that a user-defined function failed. `then` describes the consequence for the request. */
  hookFailed(hook: string, error: unknown, then: string): void {
    this.observers.event('hookFailed', { hook, error })
    this.warnOnce('SLUICE_HOOK_FAILED', () => `${hook} failed, ${then}: ${messageOf(error)}`, hook)
  }

  /** Reports a backend failure without failover. `then` describes the consequence for the request. */
  backendFailed(error: unknown, then: string): void {
    this.observers.event('backendFailed', { error })
    this.warnOnce('SLUICE_BACKEND_FAILED', () => `${then}: ${messageOf(error)}`, then)
  }

  /** Warns once per `code` and `about`, without an event for observers. */
  warnOnce(code: SluiceCode, message: () => string, about?: string): void {
    this.#warnings.once(code, message, about)
  }
}

/**
 * Returns the report for failures on a request, or undefined for a preflight: functions that read credentials or a body
 * are expected to fail on preflights, which have neither.
 */
export function reportUnlessPreflight(view: RequestView, report: LimiterReport): LimiterReport | undefined {
  return isPreflight(view) ? undefined : report
}
