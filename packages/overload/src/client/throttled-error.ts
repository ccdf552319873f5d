import { SluiceError } from '@sluice/limiter-core/backend'

/** Error with the code `SLUICE_THROTTLED` of a request that was not sent, because the upstream is overloaded or its turn is too late. */
export class ThrottledError extends SluiceError {
  /** Milliseconds that the upstream asked to wait, or 0 if it did not ask and another request may be sent at once. */
  readonly retryAfterMs: number

  constructor(reason: string, retryAfterMs: number) {
    super('SLUICE_THROTTLED', `the request was not sent, because ${reason}`)
    this.retryAfterMs = retryAfterMs
  }
}
