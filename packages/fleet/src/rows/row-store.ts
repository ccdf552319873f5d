/** Version of a row: another value after each write, never an earlier one again. The store chooses it. */
export type RowVersion = string | number | bigint

/** A stored row. */
export interface Row {
  readonly cells: Uint8Array
  readonly version: RowVersion
}

/** New cells of a row. */
export interface Change {
  readonly key: string
  readonly cells: Uint8Array
  /** Version that the row must still have; undefined if no row may exist. */
  readonly version: RowVersion | undefined
}

export interface RowWriteOptions {
  /** Shortest time in ms for which the store keeps the rows, an integer from 1. */
  readonly ttlMs: number
}

/**
 * A database that can read and conditionally write versioned rows. A key is a well-formed string of 1 to 1,024 bytes.
 * `rowStoreContract` of `@sluice/testkit` tests a store.
 */
export interface RowStore {
  /** Most rows of one `write`, from 1. Default: 100. */
  readonly maxRows?: number | undefined
  /** Returns the rows of keys, in their order; undefined for a key without a row. Each row is its latest state. */
  read(keys: readonly string[]): Promise<readonly (Row | undefined)[]>
  /**
   * Writes all rows and resolves to true, or writes none and resolves to false if the version of one has changed. The
   * keys of the changes are distinct. If it rejects, the rows may have been written.
   */
  write(changes: readonly Change[], options: RowWriteOptions): Promise<boolean>
  /** Returns the server's clock in epoch ms. Default: the clock of each process, so that their clocks must agree. */
  now?(): Promise<number>
  /**
   * Lets the runtime finish `work` after the request that it belongs to has been answered. For runtimes that end calls
   * together with the request in which they began, such as Cloudflare Workers. Default: calls end on their own.
   */
  keepRunning?(work: Promise<unknown>): void
}
