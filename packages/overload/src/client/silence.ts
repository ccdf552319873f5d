/** Unanswered requests, and ms since the first of them, from which on an upstream may be silent. */
const [SILENT_REQUESTS, SILENT_MS] = [10, 1_000]
/** An upstream is silent if it takes longer than this multiple of the longest time that it took. */
const PATIENCE = 2
/** The longest time falls by this part of the difference with each reply. */
const FORGOTTEN_PART = 1 / 1_000

/** Notices that an upstream has stopped answering, before requests time out. */
export class Silence {
  /** Longest time that an accepted request took, in ms; 0 before the first one. Falls slowly with shorter ones. */
  longestMs = 0
  #unanswered = 0
  #sinceMs = 0

  sent(now: number): void {
    if (this.#unanswered++ === 0) this.#sinceMs = now
  }

  answered(): void {
    this.#unanswered = 0
  }

  accepted(ms: number): void {
    this.longestMs = Math.max(ms, this.longestMs + (ms - this.longestMs) * FORGOTTEN_PART)
  }

  /** Forgets a request whose caller did not wait for the reply. */
  abandoned(): void {
    this.#unanswered = Math.max(0, this.#unanswered - 1)
  }

  /** Unknown, and so false, before the first accepted request: the first replies may take any time. */
  isSilent(now: number): boolean {
    if (this.#unanswered < SILENT_REQUESTS || this.longestMs === 0) return false
    return now - this.#sinceMs > Math.max(SILENT_MS, PATIENCE * this.longestMs)
  }
}
