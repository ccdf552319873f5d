import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { SampleWindow } from './sample-window.ts'

/** Windows after which the base is measured again, per place. */
const PROBE_EVERY = 3

/**
 * Estimates how many places wait, limit × (1 - base / present duration), and keeps that number small. The base is the
 * shortest median so far, which the next window replaces from time to time. Source: TCP Vegas, and the `VegasLimit` of
 * Netflix' concurrency-limits.
 */
export class VegasLimit implements LimitAlgorithm {
  #baseMs = Number.POSITIVE_INFINITY
  #windows = 0

  next(limit: number, { medianMs, maxInflight }: SampleWindow): number {
    this.#windows++
    if (this.#windows >= PROBE_EVERY * limit) {
      this.#windows = 0
      this.#baseMs = medianMs
    }
    this.#baseMs = Math.min(this.#baseMs, medianMs)
    if (maxInflight < limit / 2) return limit
    const step = Math.max(1, Math.log10(limit))
    const waiting = Math.ceil(limit * (1 - this.#baseMs / medianMs))
    if (waiting <= step) return limit + 6 * step
    if (waiting < 3 * step) return limit + step
    return waiting > 6 * step ? limit - step : limit
  }
}
