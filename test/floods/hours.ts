import type { AlgorithmName } from '@sluice/limiter-core'
import { KIB, type Scene, scene } from './scene.ts'

const LIMIT = 10
const HOUR_MS = 3_600_000

/** Number of clients at 512 KiB, scaled with the budget. */
const CLIENTS_AN_HOUR = 60_000
const FLOOD_KEYS = 18_000
const REQUESTS = 5
const UNKNOWN = 1_000

/** Results of an hour of ordinary clients. */
export interface Hour {
  /** Share of the clients sending five requests that were denied at least once. */
  readonly denied: number
  /** Share of unused keys that are mistaken for an evicted key at the end of the hour. */
  readonly clouded: number
  /** Evicted keys that were written to the tail in this hour. */
  readonly spilled: number
}

/** One-time clients, a limit of ten per hour, and occasional floods that spend any amount. */
export class Hours {
  readonly #scene: Scene
  readonly #part: number
  readonly #oneIn: number
  #clients = 0

  /** One client in `oneIn` sends five requests at once, the others send one. */
  constructor(algorithm: AlgorithmName, maxBytes: number, oneIn: number) {
    this.#scene = scene([{ algorithm, limit: LIMIT, window: HOUR_MS }], maxBytes)
    this.#part = maxBytes / (512 * KIB)
    this.#oneIn = oneIn
  }

  next(): Hour {
    const { limiter, clock, told } = this.#scene
    const clients = CLIENTS_AN_HOUR * this.#part
    const spilled = told.spilled
    let denied = 0
    for (let client = 0; client < clients; client++) {
      clock.advance(HOUR_MS / clients)
      const key = `client-${this.#clients++}`
      let allowed = true
      const keen = client % this.#oneIn === 0
      for (let ask = keen ? REQUESTS : 1; ask > 0; ask--) allowed = limiter.take(key).allowed && allowed
      if (keen && !allowed) denied++
    }
    let clouded = 0
    for (let key = 0; key < UNKNOWN; key++) {
      if (limiter.peek(`unknown-${this.#clients}-${key}`).verdicts[0].remaining < LIMIT) clouded++
    }
    return {
      denied: (denied * this.#oneIn) / clients,
      clouded: clouded / UNKNOWN,
      spilled: told.spilled - spilled,
    }
  }

  /** New keys that each take `cost` units once, all at the same time. */
  flood(cost: number): void {
    for (let key = 0; key < FLOOD_KEYS * this.#part; key++)
      this.#scene.limiter.take(`flood-${this.#clients}-${key}`, cost)
  }
}

/** Cells of a row of a tail: a fourteenth of the budget, four tails, four rows, ten bytes a cell. */
export function tailCells(maxBytes: number): number {
  return Math.floor(maxBytes / 14 / 4 / 4 / 10)
}
