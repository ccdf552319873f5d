import { afterThisTurn, type Clock, SluiceError } from '@sluice/limiter-core/backend'
import { retryAfterMs } from '@sluice/limiter-core/http'
import { responseError } from './response-error.ts'

/** Call of a client, which may be sent several times. */
export interface ClientRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path and query below the address of the service. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether sending it again has no further effect. */
  readonly repeatable: boolean
}

export interface ClientCallsOptions {
  readonly base: string
  readonly fetch: typeof globalThis.fetch
  readonly retries: number
  readonly waitMs: number
  readonly clock: Clock
}

type Attempt = { readonly status: number; readonly text: string; readonly retryAfterMs: number | undefined }

const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])
const FIRST_PAUSE_MS = 50

/** Sends requests with `fetch`, with retries where they are safe, and returns the bodies of successful responses. */
export class ClientCalls {
  readonly #options: ClientCallsOptions

  constructor(options: ClientCallsOptions) {
    this.#options = options
  }

  /**
   * Sends a request and returns the response body. Rejects with a coded error if the service refuses or does not reply
   * in time.
   */
  async send(request: ClientRequest): Promise<string> {
    const { clock, waitMs, retries } = this.#options
    const deadline = new AbortController()
    const endsAt = clock.now() + waitMs
    const cancel = clock.after(waitMs, () => deadline.abort(), { keepAlive: true })
    try {
      const most = request.repeatable ? retries : 0
      for (let sent = 0; ; sent++) {
        const attempt = await this.#attempt(request, deadline.signal)
        const pauseMs = pauseAfter(attempt, sent)
        const isLast = sent >= most || pauseMs === undefined || clock.now() + pauseMs >= endsAt
        if (isLast) return bodyOf(attempt, request)
        await pause(clock, pauseMs)
      }
    } finally {
      cancel()
    }
  }

  async #attempt(request: ClientRequest, signal: AbortSignal): Promise<Attempt | Error> {
    const { base, fetch, clock } = this.#options
    const { method, path, headers, body } = request
    try {
      // the token is for this service only, so redirects are errors
      const init: RequestInit = { method, headers, redirect: 'error', signal }
      const response = await fetch(`${base}${path}`, body === undefined ? init : { ...init, body })
      const text = await response.text()
      const retryAfter = response.headers.get('retry-after') ?? ''
      return { status: response.status, text, retryAfterMs: retryAfterMs(retryAfter, clock.wall()) }
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }
}

/** Returns the ms to wait before the next attempt, or undefined if a retry would not help. */
function pauseAfter(attempt: Attempt | Error, sent: number): number | undefined {
  // random jitter, so that clients do not retry at the same moment after an outage
  const backOffMs = FIRST_PAUSE_MS * 2 ** sent * (0.5 + Math.random() / 2)
  if (attempt instanceof Error) return backOffMs
  return RETRIED_STATUSES.has(attempt.status) ? (attempt.retryAfterMs ?? backOffMs) : undefined
}

function bodyOf(attempt: Attempt | Error, { method }: ClientRequest): string {
  if (!(attempt instanceof Error)) {
    if (attempt.status === 200 || attempt.status === 204) return attempt.text
    throw responseError(attempt.status, attempt.text)
  }
  const outcome = method === 'GET' ? '' : '; the call may still take effect'
  throw new SluiceError('SLUICE_COUNTERS_UNAVAILABLE', `counterClient: the service did not reply${outcome}`, {
    cause: attempt,
  })
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms <= 0) afterThisTurn(resolve)
    else clock.after(ms, resolve, { keepAlive: true })
  })
}
