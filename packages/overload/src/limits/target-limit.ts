import type { LimitAlgorithm } from './limit-algorithm.ts'
import type { SampleWindow } from './sample-window.ts'

/** Part of the target that is aimed at, and from which on the limit stays. */
const [AIM, CLOSE] = [0.9, 0.85]
/** Largest growth and fall in a window. */
const [GROWTH, FALL] = [2, 0.6]
/** Part of the limit that must be in use for it to grow. */
const USED = 0.9
/** Part of the possible fall of durations from which on a lower limit helps. */
const HELPED = 0.3
/** Falls that must not have helped for the limit to stay, and the windows for which it then does. */
const [FALLS, PATIENCE] = [2, 20]

/**
 * Keeps a quantile of durations at a target: work that waits makes it longer in proportion to the limit, so the limit is
 * multiplied by target / duration. If durations do not follow a lower limit, the service itself takes longer than the
 * target, and the limit before applies again.
 */
export class TargetLimit implements LimitAlgorithm {
  readonly leastSamples: number
  readonly #quantile: number
  readonly #targetMs: number
  /** What the last falls were to improve. */
  #before: { readonly limit: number; readonly ms: number; readonly inflight: number } | undefined
  #falls = 0
  #patience = 0

  constructor(quantile: number, targetMs: number) {
    this.#quantile = quantile
    this.#targetMs = targetMs
    // two of them take longer
    this.leastSamples = Math.ceil(2 / (1 - quantile))
  }

  next(limit: number, window: SampleWindow): number {
    const ms = window.durationAt(this.#quantile)
    const ratio = (AIM * this.#targetMs) / ms
    if (this.#patience > 0) this.#patience--
    if (ms > this.#targetMs) return this.#patience > 0 ? limit : this.#fallen(limit, window, ms, ratio)
    this.#before = undefined
    const isUsed = window.maxInflight >= Math.round(limit) * USED
    return isUsed && ms < CLOSE * this.#targetMs ? Math.max(limit + 1, limit * Math.min(GROWTH, ratio)) : limit
  }

  #fallen(limit: number, { meanInflight: inflight }: SampleWindow, ms: number, ratio: number): number {
    const before = this.#before
    if (!before || hasHelped(before, ms, inflight)) {
      this.#before = { limit, ms, inflight }
      this.#falls = 0
    }
    if (before && ++this.#falls > FALLS) {
      this.#before = undefined
      this.#patience = PATIENCE
      return before.limit
    }
    return limit * Math.max(FALL, ratio)
  }
}

function hasHelped(before: { readonly ms: number; readonly inflight: number }, ms: number, inflight: number): boolean {
  const couldFall = 1 - inflight / before.inflight
  return couldFall > 0 && 1 - ms / before.ms >= HELPED * couldFall
}
