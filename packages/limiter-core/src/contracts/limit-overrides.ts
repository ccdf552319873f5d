import type { MetricSource } from './metric-source.ts'

/** Limits of single keys in the place of a policy's own: what `limitOverrides` makes. */
export interface LimitOverrides extends MetricSource {
  /** Keys without one: counted by the policy itself, or not counted by it. */
  readonly others: 'policy' | 'exempt'
  /** The largest limit that may ever come; Infinity where limits are loaded. */
  readonly largestLimit: number
  /** Whole units; undefined of a key without an override. */
  limitOf(key: string): number | undefined
  /**
   * For limiters. `prepare` is called with the limits that hold, and with others before they do; where it throws, these
   * never hold. Throws what `prepare` throws of limits that do not change. Returns a function that stops it.
   */
  join(prepare: PrepareLimits): () => void
  /** Ends loading. The limits that hold stay. */
  close(): void
}

/** Makes ready for keys of these limits; throws a coded error where a policy cannot have one of them. */
export type PrepareLimits = (limits: ReadonlySet<number>) => void
