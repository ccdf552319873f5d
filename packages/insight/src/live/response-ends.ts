import type { ObservedRequest } from '@sluice/limiter-core'

interface ClosingResponse {
  on(event: 'close', run: () => void): unknown
  listenerCount(event: 'close'): number
}

/** Node warns of more than 10, and whoever else listens has some. */
const MOST_LISTENERS = 8

/**
 * Runs once when a response ends, by the one event that costs least. A response that ended before, or that never gets
 * its turn, is missed: nothing is held for it, only not measured. Of several limiters that decide one request the first
 * one is measured.
 */
export class ResponseEnds {
  // listeners of one response run one after the other: the last one that ended tells the first of them from the others,
  // where a set of all that are watched would cost more than all the rest
  #ended: object | undefined
  // decisions of one request mostly follow each other: one listener is enough for them
  #watched: object | undefined

  /** True for the request that was watched or passed over last: another limiter decides it. */
  isWatched({ view }: ObservedRequest): boolean {
    return this.#watched !== undefined && view?.outgoing === this.#watched
  }

  /** Not to be watched, whoever decides it next. */
  pass({ view }: ObservedRequest): void {
    this.#watched = view?.outgoing as object | undefined
  }

  /** Lets go of what was passed over. */
  forget(): void {
    this.#watched = undefined
  }

  watch({ view }: ObservedRequest, run: () => void): void {
    const outgoing = view?.outgoing
    if (!closes(outgoing) || outgoing === this.#watched || outgoing.listenerCount('close') >= MOST_LISTENERS) return
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
