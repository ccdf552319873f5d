import { TDigest } from '@sluice/sketches'
import type { PercentilesSnapshot } from './cap-snapshot.ts'

/** Recent values are those of the current five-minute step and the one before. */
export const RECENT_STEP_MS = 300_000

const COMPRESSION = 50

/** Creates a digest that can be merged into a `RecentDigest`. */
export function newDigest(): TDigest {
  return new TDigest({ compression: COMPRESSION })
}

/** Percentiles of the last 5 to 10 minutes, kept in two digests of about 8 KB. */
export class RecentDigest {
  #step = Number.NEGATIVE_INFINITY
  #current: TDigest | undefined
  #previous: TDigest | undefined

  /** Throws `SLUICE_SKETCH_MISMATCH` for a digest that was not created by `newDigest`. */
  merge(digest: TDigest, at: number): void {
    this.#advance(at)
    this.#current ??= newDigest()
    this.#current.merge(digest)
  }

  percentiles(at: number): PercentilesSnapshot {
    const [p50, p90, p99] = this.quantiles([0.5, 0.9, 0.99], at)
    return { p50, p90, p99 }
  }

  /** Returns quantiles; null if nothing was measured. */
  quantiles(wanted: readonly number[], at: number): (number | null)[] {
    this.#advance(at)
    const both = newDigest()
    if (this.#previous) both.merge(this.#previous)
    if (this.#current) both.merge(this.#current)
    return wanted.map((quantile) => (both.count === 0 ? null : both.quantile(quantile)))
  }

  #advance(at: number): void {
    const step = Math.floor(at / RECENT_STEP_MS)
    if (step <= this.#step) return
    this.#previous = step === this.#step + 1 ? this.#current : undefined
    this.#current = undefined
    this.#step = step
  }
}
