import { setTimeout as pause } from 'node:timers/promises'

/** Part of the query time by which single queries are shorter or longer. */
const VARIATION = 0.2

/** A stand-in for a database: a pool of connections, each of which runs one query at a time. */
export class Database {
  /** Mean duration of a query in ms. */
  queryMs: number
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(connections: number, queryMs: number) {
    this.#free = connections
    this.queryMs = queryMs
  }

  async query(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    await pause(this.queryMs * (1 + VARIATION * (2 * Math.random() - 1)))
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}
