/** Temporary changes by an operator. Everything that is not listed stays as configured. */
export interface LimiterControls {
  /** Changes by policy name. */
  readonly policies: ReadonlyMap<string, PolicyControl>
  /**
   * Milliseconds, an integer, for which a key stays blocked by a policy; 0 if it is not blocked. Called for each take
   * while controls apply. A blocked key is denied by enforced policies and nothing is counted.
   */
  blockedMs(key: string, policy: string): number
}

/** Changes to one policy. The more permissive of two modes applies; `off` counts nothing. */
export interface PolicyControl {
  readonly mode?: 'shadow' | 'off' | undefined
  /** Whole units, at least 1. Keys with an override keep theirs. */
  readonly limit?: number | undefined
}
