import type { Clock } from '@sluice/limiter-core'
import { clockOf, KEEP_ALIVE } from '@sluice/limiter-core/backend'
import { PageFailure } from './page-failure.ts'
import { boundedBody } from './response-body.ts'

/** Longest time until the page responds, in ms. */
const RESPONSE_MS = 10_000
/** Longest body of an answer, in UTF-16 units. */
const MAX_ANSWER = 4 * 1024 * 1024

export interface LivePageOptions {
  /** Address of the page, ending in a slash. */
  readonly address: URL
  readonly token?: string | undefined
  readonly clock?: Clock | undefined
}

/** Sends requests to the live page of a running server. */
export class LivePage {
  readonly #address: URL
  readonly #token: string | undefined
  readonly #clock: Clock

  constructor({ address, token, clock }: LivePageOptions) {
    this.#address = address
    this.#token = token
    this.#clock = clockOf(clock)
  }

  /** Requests a file of the page. Rejects with `PageFailure` if the response is not of this type. */
  async open(file: string, type: string, signal?: AbortSignal): Promise<Response> {
    const timeout = new AbortController()
    const cancel = this.#clock.after(RESPONSE_MS, () => timeout.abort(), KEEP_ALIVE)
    const signals = signal === undefined ? [timeout.signal] : [timeout.signal, signal]
    try {
      const response = await fetch(new URL(file, this.#address), {
        headers: { accept: type, ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }) },
        signal: AbortSignal.any(signals),
      })
      if (!response.ok) throw await PageFailure.ofResponse(this.#address, response)
      const received = response.headers.get('content-type') ?? 'nothing'
      if (received.startsWith(type)) return response
      await response.body?.cancel()
      throw PageFailure.ofType(this.#address, received)
    } catch (error) {
      if (error instanceof PageFailure) throw error
      throw PageFailure.ofConnection(this.#address, timeout.signal.aborted ? `no response in ${RESPONSE_MS} ms` : error)
    } finally {
      cancel()
    }
  }

  /** Returns the JSON that the page answers with. Rejects with `PageFailure`. */
  async json(file: string, signal?: AbortSignal): Promise<unknown> {
    const response = await this.open(file, 'application/json', signal)
    try {
      return JSON.parse(await boundedBody(response, MAX_ANSWER))
    } catch (error) {
      throw PageFailure.ofConnection(this.#address, error)
    }
  }
}
