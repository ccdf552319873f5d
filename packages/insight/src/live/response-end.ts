import type { ObservedRequest } from '@sluice/limiter-core'

interface ClosingResponse {
  on(event: 'close', run: () => void): unknown
}

/**
 * Runs once when a response ends, by the one event that costs least. A response that ended before, or that never gets
 * its turn, is missed: nothing is held for it, only not measured. A request that several limiters decide is watched once.
 */
export class ResponseEnds {
  readonly #watched = new WeakSet<object>()

  /** False where there is no response to watch, or where it is watched already. */
  watch({ view }: ObservedRequest, run: () => void): boolean {
    const outgoing = view?.outgoing
    if (!closes(outgoing) || this.#watched.has(outgoing)) return false
    this.#watched.add(outgoing)
    outgoing.on('close', run)
    return true
  }
}

function closes(outgoing: unknown): outgoing is ClosingResponse & object {
  return typeof (outgoing as Partial<ClosingResponse> | undefined | null)?.on === 'function'
}
