/** Temporary changes to a cap by an operator. */
export interface CapControls {
  /** Replaces the configured mode. `shadow` denies nothing, `off` does not count either. */
  readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
  /** Places per key, an integer of at least 1. Held permits stay, also above the limit. */
  readonly limit?: number | undefined
  /** Returns the milliseconds for which a key stays blocked; 0 if it is not blocked. */
  blockedMs(key: string): number
}

/** Handle of a cap for observers, to change it while it runs. */
export interface CapHandle {
  readonly name: string
  /** Places per key, as configured. */
  readonly limit: number
  /** Whether permits are stored in this process, so that every process has its own places. */
  readonly isLocal: boolean
  /** Latency objective of an adaptive limit: a quantile of the durations of work, and its longest value. */
  readonly objective?: readonly [quantile: number, ms: number] | undefined
  /** Returns the number of requests, of all keys, that wait for a place. */
  waiting(): number
  /** Like `ObservedLimiter.control`. Throws `SLUICE_BAD_LIMIT` and changes nothing if the cap cannot have the limit. */
  control(controls: CapControls | undefined, owner?: object): void
}
