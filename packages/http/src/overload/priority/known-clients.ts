/** Clients that are remembered at least, and time in ms for which they are. */
const [CLIENTS, REMEMBERED_MS] = [8_192, 600_000]
/** Clients that become known at once while there is overload, and the time in ms in which there is one more. */
const [BURST, ONE_IN_MS] = [16, 10_000]

/**
 * Clients that asked before there was overload, and a few of those that did not. Clients can invent names: as long as
 * they are new, they count as one client. A known client is forgotten after 10 to 20 minutes without requests, or after
 * 8,192 to 16,384 others.
 */
export class KnownClients {
  #recent = new Set<string>()
  #older = new Set<string>()
  #renewedAt: number
  /** Time from which on the next new client may become known; `BURST` times `ONE_IN_MS` before, so many may. */
  #nextAt = Number.NEGATIVE_INFINITY

  constructor(now: number) {
    this.#renewedAt = now
  }

  /** Number of clients, those of both times counted twice. */
  get size(): number {
    return this.#recent.size + this.#older.size
  }

  has(client: string): boolean {
    if (this.#recent.has(client)) return true
    if (!this.#older.has(client)) return false
    this.#put(client)
    return true
  }

  add(client: string, now: number): void {
    if (!(Math.abs(now - this.#renewedAt) < REMEMBERED_MS)) this.#renew(now)
    this.#put(client)
  }

  /** Adds a client while there is overload, if there have not been too many. Returns whether it is known. */
  addIfFew(client: string, now: number): boolean {
    if (this.has(client)) return true
    // the clock may have been set back
    if (this.#nextAt > now + ONE_IN_MS) this.#nextAt = now
    const at = Math.max(this.#nextAt, now - (BURST - 1) * ONE_IN_MS)
    if (at > now) return false
    this.#nextAt = at + ONE_IN_MS
    this.add(client, now)
    return true
  }

  #put(client: string): void {
    if (this.#recent.size >= CLIENTS) this.#renew(this.#renewedAt)
    this.#recent.add(client)
  }

  #renew(now: number): void {
    this.#older = this.#recent
    this.#recent = new Set()
    this.#renewedAt = now
  }
}
