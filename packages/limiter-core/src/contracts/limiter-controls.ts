/** What an operator changed of limiters, for a while. What is not in it is as it was built. */
export interface LimiterControls {
  /** By the name of the policy. */
  readonly policies: ReadonlyMap<string, PolicyControl>
  /**
   * Whole ms for which a key stays blocked by a policy; 0 where it is not blocked. Asked for each take while controls hold.
   * A blocked key is denied by policies that are enforced, and nothing is counted.
   */
  blockedMs(key: string, policy: string): number
}

/** What is different of one policy. Of two modes the weaker holds; off counts nothing. */
export interface PolicyControl {
  readonly mode?: 'shadow' | 'off' | undefined
  /** Whole units, at least 1. Keys with an override keep theirs. */
  readonly limit?: number | undefined
}
