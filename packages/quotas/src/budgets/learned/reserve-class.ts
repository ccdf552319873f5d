import { TDigest } from '@sluice/sketches'

/** How well the reservations of a class have covered the costs. */
export interface ReserveStats {
  /** Units that the next request reserves. */
  readonly reserve: number
  /** Number of costs that were learned. */
  readonly requests: number
  /** Number of requests that cost more than they had reserved. */
  readonly underReserved: number
  /** `underReserved / requests`; 0 if nothing was learned. */
  readonly underReservedShare: number
}

/** Costs after which a digest is replaced, so that a reservation follows a change. */
const COSTS_PER_DIGEST = 1_000
/** Costs from which a quantile is used, and after which it is computed again. */
const LEAST_COSTS = 20
const COMPRESSION = 100

/** The costs of similar requests. Older costs are forgotten after one to two thousand newer ones. */
export class ReserveClass {
  #current = new TDigest({ compression: COMPRESSION })
  #previous: TDigest | undefined
  readonly #q: number
  #requests = 0
  #underReserved = 0
  #quantile: number | undefined

  constructor(q: number) {
    this.#q = q
  }

  /** The quantile of the costs; undefined as long as there are few. */
  get quantile(): number | undefined {
    return this.#quantile
  }

  learn(reserved: number, actual: number): void {
    this.#requests++
    if (actual > reserved) this.#underReserved++
    this.#current.add(actual)
    if (this.#requests % LEAST_COSTS === 0) this.#quantile = this.#computed()
    if (this.#current.count < COSTS_PER_DIGEST) return
    this.#previous = this.#current
    this.#current = new TDigest({ compression: COMPRESSION })
  }

  stats(reserve: number): ReserveStats {
    const requests = this.#requests
    const underReserved = this.#underReserved
    return { reserve, requests, underReserved, underReservedShare: requests === 0 ? 0 : underReserved / requests }
  }

  #computed(): number {
    const known = new TDigest({ compression: COMPRESSION })
    if (this.#previous) known.merge(this.#previous)
    known.merge(this.#current)
    return known.quantile(this.#q)
  }
}
