import { afterThisTurn, type Clock, SluiceError } from '@sluice/limiter-core/backend'
import { answerError } from './answer-error.ts'

/** One call of a client, however often it is sent. */
export interface ClientRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below the address of the service, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether it changes nothing more when it is sent again. */
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

const AGAIN: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])
const FIRST_PAUSE_MS = 50

/** Sends requests by `fetch`, again where that is safe, and answers the bodies of those that were done. */
export class ClientCalls {
  readonly #options: ClientCallsOptions

  constructor(options: ClientCallsOptions) {
    this.#options = options
  }

  /** The body of the answer. Rejects with a coded error where the service refused, or did not answer in time. */
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
    const { base, fetch } = this.#options
    const { method, path, headers, body } = request
    try {
      // a token is for this service, and for none that it leads to
      const init: RequestInit = { method, headers, redirect: 'error', signal }
      const response = await fetch(`${base}${path}`, body === undefined ? init : { ...init, body })
      const text = await response.text()
      return { status: response.status, text, retryAfterMs: secondsOf(response.headers.get('retry-after')) }
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }
}

/** The ms after which an attempt is worth another one; undefined: none is. */
function pauseAfter(attempt: Attempt | Error, sent: number): number | undefined {
  // some of the wait is by chance, so that clients of one outage do not come back together
  const backOffMs = FIRST_PAUSE_MS * 2 ** sent * (0.5 + Math.random() / 2)
  if (attempt instanceof Error) return backOffMs
  return AGAIN.has(attempt.status) ? (attempt.retryAfterMs ?? backOffMs) : undefined
}

function bodyOf(attempt: Attempt | Error, { method, repeatable }: ClientRequest): string {
  if (!(attempt instanceof Error)) {
    if (attempt.status === 200 || attempt.status === 204) return attempt.text
    throw answerError(attempt.status, attempt.text)
  }
  const what = method === 'GET' ? '' : `, it may ${repeatable ? 'count' : 'be done'} all the same`
  throw new SluiceError('SLUICE_COUNTERS_UNAVAILABLE', `counterClient: got no answer of the service${what}`, {
    cause: attempt,
  })
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms <= 0) afterThisTurn(resolve)
    else clock.after(ms, resolve, { keepAlive: true })
  })
}

/** Ms of a `Retry-After` in seconds; a date is not read. */
function secondsOf(value: string | null): number | undefined {
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : undefined
}
