/** Temporary changes to a limiter by an operator. Policies that are not listed keep their configuration. */
export interface LimiterControls {
  /** Changes by policy name. */
  readonly policies: ReadonlyMap<string, PolicyControl>
  /**
   * Returns the milliseconds, an integer, for which a key stays blocked by a policy; 0 if it is not blocked. Called for
   * each take while controls apply. A blocked key is denied by enforced policies, and its takes are not counted.
   */
  blockedMs(key: string, policy: string): number
}

/** Changes to one policy. The more permissive of two modes applies; `off` counts nothing. */
export interface PolicyControl {
  /** Replaces the configured mode. A policy that is configured as `off` stays off. */
  readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
  /** Limit in units, an integer of at least 1. Keys with an override keep their own limit. */
  readonly limit?: number | undefined
}
