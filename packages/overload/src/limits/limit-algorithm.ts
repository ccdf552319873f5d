import type { SampleWindow } from './sample-window.ts'

/** Names of the algorithms of `adaptive`. */
export type LimitAlgorithmName = 'throughput' | 'gradient' | 'vegas' | 'aimd'

/**
 * Turns what a window of completed work shows into the next limit. It neither reads a clock nor enforces anything, and
 * keeps only a few numbers. The result may have a fraction; the caller keeps it between `min` and `max`.
 */
export interface LimitAlgorithm {
  /** Samples of a window, at least. Default: `LEAST_SAMPLES`. */
  readonly leastSamples?: number | undefined
  /** Returns the limit that follows `limit`, which applied during the window. */
  next(limit: number, window: SampleWindow): number
  /** Called before `next` if the limit has been learned by another process, and is not new. */
  resume?(): void
  /** Ends a limit that was lowered only to measure. Returns the limit before; undefined if it was not. */
  giveUp?(): number | undefined
}

export const LEAST_SAMPLES = 10
