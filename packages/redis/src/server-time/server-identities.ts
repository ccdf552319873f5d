/**
 * Maximum time between the first call to a new server and the request for its identity. Usage that was learned within
 * this time is not considered lost.
 */
const FIRST_CALL_MS = 100

interface Server {
  /**
   * Run id, replication id and number of flushes, separated by spaces; '' if the server does not permit reading them.
   */
  readonly identity: string
  /** Usage that this process has learned since this time was counted by this server. */
  readonly since: number
  /** Time since which another server may reply under the same name; undefined if the identity is certain. */
  doubtedAt: number | undefined
}

/**
 * Tracks which server replies under each name. A server that was restarted, or a replica that was promoted, has another
 * identity: earlier counts may be missing there. A broken connection alone does not prove a change, so the identity is
 * only marked as doubtful until it has been read again. All times are readings of one process clock.
 */
export class ServerIdentities {
  readonly #servers = new Map<string, Server>()

  /** Records the identity that a server reported in reply to a call that was sent at `requestedAt`. */
  record(name: string, identity: string, requestedAt: number): void {
    const known = this.#servers.get(name)
    // the call was sent before the identity became doubtful
    if (known?.doubtedAt !== undefined && requestedAt < known.doubtedAt) return
    if (known && identity !== '' && known.identity === identity) {
      known.doubtedAt = undefined
      return
    }
    // before the first server was known, no other server can have counted anything for this process
    const isFirst = this.#servers.size === 0
    const since = known?.doubtedAt ?? (isFirst ? Number.NEGATIVE_INFINITY : requestedAt - FIRST_CALL_MS)
    this.#servers.set(name, { identity, since, doubtedAt: undefined })
  }

  /** Marks a server as possibly replaced by another one; all servers if `name` is undefined. */
  markDoubtful(name: string | undefined, now: number): void {
    for (const [serverName, server] of this.#servers) {
      if (name === undefined || name === serverName) server.doubtedAt = now
    }
  }

  isInDoubt(name: string): boolean {
    const server = this.#servers.get(name)
    return !server || server.doubtedAt !== undefined
  }

  /** Whether counts that a server reported in reply to a call of `requestedAt` may be lost; true for an unknown server. */
  mayHaveLost(name: string, requestedAt: number): boolean {
    const server = this.#servers.get(name)
    return !server || requestedAt < (server.doubtedAt ?? server.since)
  }

  /** Returns a number that identifies the server; 0 if its identity is unknown. */
  numberOf(name: string): number {
    // excludes the number of flushes, so that processes agree whether or not they have noticed a flush
    const [run = '', history = ''] = this.#servers.get(name)?.identity.split(' ') ?? []
    return run === '' ? 0 : Number.parseInt(run.slice(0, 6) + history.slice(0, 6), 16)
  }
}
