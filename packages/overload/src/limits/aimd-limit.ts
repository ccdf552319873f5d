import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { SampleWindow } from './sample-window.ts'

const BACKOFF = 0.9

/**
 * Adds one place per window while the limit is used, and takes a tenth away if the mean duration is above `timeoutMs`.
 * Latencies settle around that time, so it must be known what the service should need.
 */
export class AimdLimit implements LimitAlgorithm {
  readonly #timeoutMs: number

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  next(limit: number, { meanMs, maxInflight }: SampleWindow): number {
    if (meanMs > this.#timeoutMs) return limit * BACKOFF
    return maxInflight * 2 >= limit ? limit + 1 : limit
  }
}
