/** How long before its first answer a server of a new name may have been asked by the same call that knows of a key. */
const FIRST_CALL_MS = 100

interface Server {
  /** Its run, its history of replication, and how often it was flushed; '' where it may not tell. */
  readonly identity: string
  /** What it counted since then, as far as this process heard of it, it counted as this server. */
  readonly since: number
  /** Since then another one may answer in its place. */
  doubtedAt: number | undefined
}

/**
 * Which server answers under which name. One that was started again, or took over from another, is another server: it
 * may lack what was counted before. A connection that broke says nothing by itself, and brings nothing but doubt. Times
 * are of one process clock.
 */
export class ServerIdentities {
  readonly #servers = new Map<string, Server>()

  /** The server of this name told who it is, in answer to a call of `askedAt`. */
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

  /** Another server may answer under this name from now on, or where none is said under any. */
  doubt(name: string | undefined, now: number): void {
    for (const [one, server] of this.#servers) {
      if (name === undefined || name === one) server.doubtedAt = now
    }
  }

  isInDoubt(name: string): boolean {
    const server = this.#servers.get(name)
    return !server || server.doubtedAt !== undefined
  }

  /** Whether what the server of this name counted up to `askedAt` may be gone; true where that is not known. */
  mayHaveLost(name: string, askedAt: number): boolean {
    const server = this.#servers.get(name)
    return !server || askedAt < (server.doubtedAt ?? server.since)
  }

  /** A number that this server alone has; 0 where it did not tell who it is. */
  numberOf(name: string): number {
    // those who heard of a flush and those who did not yet have one number
    const [run = '', history = ''] = this.#servers.get(name)?.identity.split(' ') ?? []
    return run === '' ? 0 : Number.parseInt(run.slice(0, 6) + history.slice(0, 6), 16)
  }
}
