/** Registers of a sketch under a name: one ASCII character for each register. Larger characters are larger ranks. */
export interface UniqueRegisters {
  /** At most 260 characters, with anything in them; empty for all keys together. */
  readonly name: string
  readonly registers: string
}

/**
 * Keeps unique keys by day for longer than a process lives: `redisUniqueStore(client)` of `@sluice/redis`, or one of your
 * own. A call that rejects, or has no answer within 2 s, is repeated.
 */
export interface UniqueStore {
  /**
   * Merges registers into those that `day` has under each name, each in one atomic step: at each place the larger
   * character stays. Resolves with what is kept then, in the order of `entries`, and keeps the day for `keepMs` from now on.
   */
  merge(day: string, entries: readonly UniqueRegisters[], keepMs: number): Promise<readonly string[]>
  /** All that is kept of `day`; nothing where it is gone or never was. */
  read(day: string): Promise<readonly UniqueRegisters[]>
}
