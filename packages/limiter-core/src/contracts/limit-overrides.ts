import type { MetricSource } from './metric-source.ts'

/** Limits of single keys that replace the limit of a policy. Created by `limitOverrides`. */
export interface LimitOverrides extends MetricSource {
  /** Keys without one: counted by the policy itself, or not counted by it. */
  readonly others: 'policy' | 'exempt'
  /** The largest limit that may ever come; Infinity where limits are loaded. */
  readonly largestLimit: number
  /** Whole units; undefined of a key without an override. */
  limitOf(key: string): number | undefined
  /**
   * For limiters. `prepare` is called with the current limits, and with new limits before they apply; if it throws,
   * the new limits are discarded. Throws what `prepare` throws if the limits are fixed. Returns a function that
   * unsubscribes.
   */
  join(prepare: PrepareLimits): () => void
  /** Ends loading. The limits that hold stay. */
  close(): void
}

/** Makes ready for keys of these limits; throws a coded error where a policy cannot have one of them. */
export type PrepareLimits = (limits: ReadonlySet<number>) => void
