/** What `Rate` stores about a key. */
export interface RateComponents {
  /** Counted in the interval before the current one. */
  readonly previousSamples: number
  /** Counted in the current interval so far. */
  readonly currentSamples: number
  readonly intervalMs: number
  /** Elapsed fraction of the current interval, from 0 to below 1. */
  readonly currentIntervalFraction: number
}

/**
 * Returns the rate per second over the last `intervalMs`, assuming that the previous interval was even. Pass it to
 * `Rate.rateWith`. Unlike `Rate.rate`, it changes with every sample.
 */
export function proportionalRate(components: RateComponents): number {
  const { previousSamples, currentSamples, intervalMs, currentIntervalFraction } = components
  return (previousSamples * (1 - currentIntervalFraction) + currentSamples) / (intervalMs / 1_000)
}
