import type { MetricSource } from './metric-source.ts'

/** Limits of single keys that replace the limit of a policy. Created by `limitOverrides`. */
export interface LimitOverrides extends MetricSource {
  /** Whether keys without an override get the limit of the policy or are not limited. */
  readonly others: 'policy' | 'exempt'
  /** Largest limit that a key may ever have; Infinity if limits are loaded. */
  readonly largestLimit: number
  /** Returns the limit of a key in units, an integer; undefined for a key without an override. */
  limitOf(key: string): number | undefined
  /**
   * Registers a limiter. Calls `prepare` at once with the current limits, and later with new limits before they apply;
   * if it throws, the new limits are discarded. Rethrows an error about the current limits only if the limits are
   * fixed. Returns a function that unregisters the limiter.
   */
  register(prepare: PrepareLimits): () => void
  /** Stops loading limits. The current limits stay in force. */
  close(): void
}

/** Prepares a limiter for keys with these limits. Throws a `SluiceError` if a policy cannot have one of them. */
export type PrepareLimits = (limits: ReadonlySet<number>) => void
