/** How long before its first reply a server with a new name may have been called by the same call that knows a key. */
const FIRST_CALL_MS = 100

interface Server {
  /** Run id, replication history and number of flushes; '' if the server may not reveal them. */
  readonly identity: string
  /** Counts since this time, as far as this process knows, were made by this server. */
  readonly since: number
  /** Since then another one may answer in its place. */
  doubtedAt: number | undefined
}

/**
 * Tracks which server answers under which name. A server that was restarted, or took over from another, is a
 * different one and may lack earlier counts. A broken connection alone proves nothing but raises doubt. Times are
 * readings of one process clock.
 */
export class ServerIdentities {
  readonly #servers = new Map<string, Server>()

  /** The server with this name reported its identity in reply to a call made at `askedAt`. */
  record(name: string, identity: string, askedAt: number): void {
    const known = this.#servers.get(name)
    // that was before the last doubt
    if (known?.doubtedAt !== undefined && askedAt < known.doubtedAt) return
    if (known && identity !== '' && known.identity === identity) {
      known.doubtedAt = undefined
      return
    }
    // nothing that is known now was counted by another one before the first
    const isFirst = this.#servers.size === 0
    const since = known?.doubtedAt ?? (isFirst ? Number.NEGATIVE_INFINITY : askedAt - FIRST_CALL_MS)
    this.#servers.set(name, { identity, since, doubtedAt: undefined })
  }

  /** Another server may answer under this name from now on; without a name, under any. */
  doubt(name: string | undefined, now: number): void {
    for (const [one, server] of this.#servers) {
      if (name === undefined || name === one) server.doubtedAt = now
    }
  }

  isInDoubt(name: string): boolean {
    const server = this.#servers.get(name)
    return !server || server.doubtedAt !== undefined
  }

  /** Whether counts of the named server up to `askedAt` may be lost; true if that is unknown. */
  mayHaveLost(name: string, askedAt: number): boolean {
    const server = this.#servers.get(name)
    return !server || askedAt < (server.doubtedAt ?? server.since)
  }

  /** Returns a number that only this server has; 0 if its identity is unknown. */
  numberOf(name: string): number {
    // clients that have noticed a flush and others that have not must use the same number
    const [run = '', history = ''] = this.#servers.get(name)?.identity.split(' ') ?? []
    return run === '' ? 0 : Number.parseInt(run.slice(0, 6) + history.slice(0, 6), 16)
  }
}
