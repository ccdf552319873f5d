/** What `Rate` knows of a key. */
export interface RateComponents {
  /** Counted in the interval before the current one. */
  readonly previousSamples: number
  /** Counted in the current interval so far. */
  readonly currentSamples: number
  readonly intervalMs: number
  /** How much of the current interval is over: from 0 to 1, 1 left out. */
  readonly currentIntervalFraction: number
}

/**
 * Per second: what was counted in the last `intervalMs` up to now, if the previous interval was an even one. For
 * `Rate.rateWith`. Unlike `Rate.rate` it moves with every sample.
 */
export function proportionalRate(components: RateComponents): number {
  const { previousSamples, currentSamples, intervalMs, currentIntervalFraction } = components
  return (previousSamples * (1 - currentIntervalFraction) + currentSamples) / (intervalMs / 1_000)
}
