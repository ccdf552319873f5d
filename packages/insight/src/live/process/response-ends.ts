import type { ObservedRequest } from '@sluice/limiter-core'

interface ClosingResponse {
  on(event: 'close', run: () => void): unknown
  listenerCount(event: 'close'): number
}

/** Node warns at more than 10 listeners, and other code adds its own. */
const MAX_LISTENERS = 8

/**
 * Runs a callback once when a response closes, using its `close` event, which is the cheapest one. A response that has
 * already ended, is never sent, or has too many listeners is not measured. If several limiters decide one request, only
 * the first one is measured.
 */
export class ResponseEnds {
  // Listeners of one response run in sequence. Remembering the last closed response is therefore enough to run only the
  // first of them; a set of all observed responses would cost more than everything else here.
  #ended: object | undefined
  // Decisions of one request usually follow each other, so remembering the last response avoids most extra listeners.
  #watched: object | undefined

  /** Whether this request was the last one observed or passed over, which means that another limiter decides it. */
  isWatched({ view }: ObservedRequest): boolean {
    return this.#watched !== undefined && view?.outgoing === this.#watched
  }

  /** Excludes the request from measurement, also for later limiters. */
  exclude({ view }: ObservedRequest): void {
    this.#watched = view?.outgoing as object | undefined
  }

  /** Forgets the last response. */
  forget(): void {
    this.#watched = undefined
  }

  watch({ view }: ObservedRequest, run: () => void): void {
    const outgoing = view?.outgoing
    if (!closes(outgoing) || outgoing === this.#watched || outgoing.listenerCount('close') >= MAX_LISTENERS) return
    this.#watched = outgoing
    outgoing.on('close', () => {
      if (this.#ended === outgoing) return
      this.#ended = outgoing
      if (this.#watched === outgoing) this.#watched = undefined
      run()
    })
  }
}

function closes(outgoing: unknown): outgoing is ClosingResponse {
  const { on, listenerCount } = (outgoing ?? {}) as Partial<ClosingResponse>
  return typeof on === 'function' && typeof listenerCount === 'function'
}
