/**
 * Durable usage counters: integers with string ids, counted by many processes. A value is within ±(2^53 - 1); an id
 * has 1 to 256 bytes of UTF-8.
 *
 * A call that cannot be counted rejects and counts nothing: `SLUICE_BAD_COUNTER_ID`, `SLUICE_BAD_DELTA` and
 * `SLUICE_BAD_TOKEN` for invalid input, `SLUICE_COUNTER_RANGE` if a value would leave its range, `SLUICE_TOKEN_REUSED`
 * if a token was used with other deltas, `SLUICE_COUNTERS_FULL` if nothing more fits until the next flush.
 */
export interface Counters {
  /**
   * Nodes that do not respond. Sums and lists lack the units that these nodes have counted but not flushed. Undefined
   * if counters are not distributed over nodes.
   */
  readonly down?: readonly string[] | undefined
  /** Adds `delta`, an integer that may be negative. Default: 1. */
  increment(id: string, delta?: number, options?: IncrementOptions): Promise<CounterReceipt>
  /** Adds all deltas or none. Several deltas for the same id are added up. */
  incrementMany(deltas: CounterDeltas, options?: IncrementOptions): Promise<BatchReceipt>
  /** Returns the value of a counter; 0 if it was never counted. */
  read(id: string, options?: ReadOptions): Promise<CounterReading>
  /** Returns the counters whose ids start with `prefix`, in byte order of their ids; `''` matches all. */
  readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]>
  /** Returns the sum of all counters whose ids start with `prefix`. */
  aggregate(prefix: string, kind?: 'sum'): Promise<number>
  /** Sets a counter to 0. Earlier increments that are not flushed yet, in any process, are dropped. */
  reset(id: string): Promise<void>
  /** Sets a counter to 0, and omits it from lists until it is counted again. */
  delete(id: string): Promise<void>
  /**
   * Resolves when all increments made through this object are as durable as the storage allows. Rejects if a write
   * failed; the increments are kept and written later.
   */
  flush(): Promise<void>
  /** Flushes and stops counting. */
  close(): Promise<void>
}

/** Deltas by counter id, as an object, a `Map` or a list of pairs. */
export type CounterDeltas = Readonly<Record<string, number>> | Iterable<readonly [id: string, delta: number]>

export interface IncrementOptions {
  /**
   * Idempotency token of 1 to 256 bytes. Within 24 hours, increments with the same token count once, even if different
   * processes send them. The same token with other deltas rejects with `SLUICE_TOKEN_REUSED`. A call with a token
   * resolves when the increment is durable.
   */
  readonly token?: string | undefined
  /** Whether the call resolves only when the increment is durable. Default: false. */
  readonly durable?: boolean | undefined
}

/** Result of an `increment` call. */
export interface CounterReceipt {
  /** The value including this increment. Increments of other processes may be missing from it. */
  readonly value: number
  /** Whether the increment survives a crash of any process or server. */
  readonly durable: boolean
  /** Whether this call counted. False if its token had already been counted. */
  readonly counted: boolean
}

/** Result of an `incrementMany` call. */
export interface BatchReceipt {
  /** Value of each counter, see `CounterReceipt.value`. */
  readonly values: ReadonlyMap<string, number>
  readonly durable: boolean
  readonly counted: boolean
}

export interface ReadOptions {
  /**
   * Maximum age of the returned value, in milliseconds; 0 always reads it from the storage. Default: a cached value is
   * returned until its cache entry expires, after 60 s unless configured otherwise.
   */
  readonly maxAgeMs?: number | undefined
}

export interface ReadManyOptions {
  /** Returns only ids after this id, for example the last id of the previous page. Default: from the first id. */
  readonly after?: string | undefined
  /** Maximum number of counters, from 1 to 10,000. Default: 1,000. */
  readonly limit?: number | undefined
}

/** Current state of one counter. */
export interface CounterReading {
  readonly id: string
  readonly value: number
  /** Increases with every write of the value; 0 if the counter was never counted. */
  readonly version: number
  /** Epoch milliseconds of the last increment in the durable value; undefined if the counter was never counted. */
  readonly updatedAt: number | undefined
}
