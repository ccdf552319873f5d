/**
 * Usage counters: whole numbers under ids, counted by many processes and kept. A value lies within ±(2^53 - 1); an id is
 * any text of 1 to 256 bytes of UTF-8.
 *
 * Bad input rejects with a code and counts nothing: `SLUICE_BAD_COUNTER_ID`, `SLUICE_BAD_DELTA`, `SLUICE_BAD_TOKEN`,
 * `SLUICE_COUNTER_RANGE` for a value that would leave its range, `SLUICE_TOKEN_REUSED` for a token that counted
 * something else, `SLUICE_COUNTERS_FULL` where nothing more can be kept until it is flushed.
 */
export interface Counters {
  /**
   * Nodes that give no answer: what they counted and have not flushed is in no sum and no list. Undefined where counters
   * are not divided among nodes.
   */
  readonly down?: readonly string[] | undefined
  /** Adds `delta`, a whole number; default: 1. */
  increment(id: string, delta?: number, options?: IncrementOptions): Promise<CounterReceipt>
  /** Adds all of them or none: a record or pairs of id and delta; several of one id add up. */
  incrementMany(deltas: CounterDeltas, options?: IncrementOptions): Promise<BatchReceipt>
  /** 0 for a counter that nobody counted. */
  read(id: string, options?: ReadOptions): Promise<CounterReading>
  /** Those whose ids begin with `prefix`, by the bytes of their ids; `''` is all of them. */
  readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]>
  /** The sum of the values of all counters whose ids begin with `prefix`. */
  aggregate(prefix: string, kind?: 'sum'): Promise<number>
  /** Sets it to 0. What was counted before and not flushed yet, here or elsewhere, does not come back. */
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
   * Counts once within 24 hours, however often it is sent, by whichever process: 1 to 256 bytes. With another body it is
   * refused. The answer comes when it is decided, which is when it is durable.
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
  /** The oldest answer that will do, in ms; 0 asks anew. Default: as long as entries are kept, 60 s. */
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
  /** Grows whenever the value was written; 0 for a counter that nobody counted. */
  readonly version: number
  /** Epoch ms of the last units that are in the durable value; undefined for a counter that nobody counted. */
  readonly updatedAt: number | undefined
}
