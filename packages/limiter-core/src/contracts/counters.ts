/**
 * Durable usage counters: integers with string ids, counted by many processes. A value is within ±(2^53 - 1); an id
 * has 1 to 256 bytes of UTF-8.
 *
 * Invalid input rejects with a code and counts nothing: `SLUICE_BAD_COUNTER_ID`, `SLUICE_BAD_DELTA`,
 * `SLUICE_BAD_TOKEN`, `SLUICE_COUNTER_RANGE` if a value would leave its range, `SLUICE_TOKEN_REUSED` if a token was
 * used for something else, `SLUICE_COUNTERS_FULL` if nothing more fits until the next flush.
 */
export interface Counters {
  /**
   * Nodes that do not respond. Sums and lists lack what these nodes have counted and not flushed. Undefined if
   * counters are not distributed over nodes.
   */
  readonly down?: readonly string[] | undefined
  /** Adds `delta`, a whole number; default: 1. */
  increment(id: string, delta?: number, options?: IncrementOptions): Promise<CounterReceipt>
  /** Adds all deltas or none: a record, or pairs of id and delta. Several deltas for one id are added up. */
  incrementMany(deltas: CounterDeltas, options?: IncrementOptions): Promise<BatchReceipt>
  /** Returns the value of a counter; 0 if it was never counted. */
  read(id: string, options?: ReadOptions): Promise<CounterReading>
  /** Returns the counters whose ids start with `prefix`, in byte order of their ids; `''` returns all. */
  readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]>
  /** Returns the sum of all counters whose ids start with `prefix`. */
  aggregate(prefix: string, kind?: 'sum'): Promise<number>
  /** Sets a counter to 0. Units that were counted before and not flushed yet, in any process, do not return. */
  reset(id: string): Promise<void>
  /** The same, and it is in no list until it is counted again. */
  delete(id: string): Promise<void>
  /** Resolves when all that was counted here so far is as durable as it gets. Rejects where that failed; nothing is lost. */
  flush(): Promise<void>
  /** Flushes and ends. */
  close(): Promise<void>
}

export type CounterDeltas = Readonly<Record<string, number>> | Iterable<readonly [id: string, delta: number]>

export interface IncrementOptions {
  /**
   * Idempotency token of 1 to 256 bytes: the increment counts once within 24 hours, however often and by whichever
   * process it is sent. The same token with another body is rejected. The call resolves when the increment is
   * durable.
   */
  readonly token?: string | undefined
  /** Answer when it is durable, and not before. Default: false. */
  readonly durable?: boolean | undefined
}

export interface CounterReceipt {
  /** The value as far as it is known here, with this increment. */
  readonly value: number
  /** True where no crash of any part can undo it. */
  readonly durable: boolean
  /** False where its token had counted before. */
  readonly counted: boolean
}

export interface BatchReceipt {
  readonly values: ReadonlyMap<string, number>
  readonly durable: boolean
  readonly counted: boolean
}

export interface ReadOptions {
  /**
   * Maximum age of the returned value, in milliseconds; 0 reads it again. Default: as long as entries are cached, 60
   * s.
   */
  readonly maxAgeMs?: number | undefined
}

export interface ReadManyOptions {
  /** Ids after this one. Default: from the first. */
  readonly after?: string | undefined
  /** At most so many, 1 to 10,000. Default: 1,000. */
  readonly limit?: number | undefined
}

export interface CounterReading {
  readonly id: string
  readonly value: number
  /** Increases with every write of the value; 0 if the counter was never counted. */
  readonly version: number
  /** Epoch milliseconds of the last units in the durable value; undefined if the counter was never counted. */
  readonly updatedAt: number | undefined
}
