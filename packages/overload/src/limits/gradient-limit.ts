import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { SampleWindow } from './sample-window.ts'

/** Windows over which the long-term duration is averaged. */
const LONG_TERM = 600
/** How much longer than the long-term duration work may take before the limit falls. */
const TOLERANCE = 1.5
/** Places that may wait. */
const QUEUE = 4
const SMOOTHING = 0.2

/**
 * Multiplies the limit by long-term duration / present duration and adds a small queue. Source: Gradient2 of Netflix'
 * concurrency-limits. Its long-term duration follows an overload that lasts, and the limit grows with it.
 */
export class GradientLimit implements LimitAlgorithm {
  #longTermMs: number | undefined

  next(limit: number, { meanMs, maxInflight }: SampleWindow): number {
    const before = this.#longTermMs ?? meanMs
    const longTermMs = before + ((meanMs - before) * 2) / (LONG_TERM + 1)
    // after an overload, the average must fall faster than it rose
    this.#longTermMs = longTermMs > 2 * meanMs ? longTermMs * 0.95 : longTermMs
    if (maxInflight < limit / 2) return limit
    const gradient = Math.max(0.5, Math.min(1, (TOLERANCE * this.#longTermMs) / meanMs))
    return limit + (limit * gradient + QUEUE - limit) * SMOOTHING
  }
}
