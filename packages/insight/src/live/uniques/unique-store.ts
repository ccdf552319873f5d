/** Registers of a sketch: one ASCII character per register. A larger character is a larger rank. */
export interface UniqueRegisters {
  /** At most 260 characters of any kind. Empty for all keys together. */
  readonly name: string
  readonly registers: string
}

/**
 * Store that keeps unique keys per day beyond the lifetime of a process: `redisUniqueStore(client)` of `@sluice/redis`,
 * or your own. A call that rejects or takes longer than 2 s is retried.
 */
export interface UniqueStore {
  /**
   * Merges `entries` into the registers stored for `day`: at each position the larger character is kept. The merge of
   * each name must be atomic. Resolves to the merged registers in the order of `entries`. The day expires `keepMs`
   * after the last call.
   */
  merge(day: string, entries: readonly UniqueRegisters[], keepMs: number): Promise<readonly string[]>
  /** Returns all entries of `day`, or an empty array if the day is unknown or has expired. */
  read(day: string): Promise<readonly UniqueRegisters[]>
}
