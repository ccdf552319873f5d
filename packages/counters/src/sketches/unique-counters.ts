import { randomBytes } from 'node:crypto'
import { optionsOf } from '@sluice/limiter-core/backend'
import { HyperLogLog, type HyperLogLogOptions, SketchError, type SketchKey, SketchSeed } from '@sluice/sketches'
import { keptFormat } from './kept-format.ts'
import type { FormatClaim, SketchFormat } from './sketch-format.ts'
import {
  type DayReadOptions,
  type HourReadOptions,
  type SketchAddOptions,
  type SketchReceipt,
  STORED_SKETCH_OPTIONS,
  type StoredSketchOptions,
} from './sketch-options.ts'
import { StoredSketches } from './stored-sketches.ts'

/** `seed`: the same in all processes of a name, now and later. Default: a random one that the ledger keeps for them. */
export interface UniqueCountersOptions extends StoredSketchOptions, HyperLogLogOptions {}

/** Made by `uniqueCounters`. */
export interface UniqueCounters {
  /**
   * Counts a key under `id`, in the hour of now. Rejects with `SLUICE_BAD_COUNTER_ID`, with `SLUICE_COUNTERS_FULL` where
   * too much waits for the ledger, and with `SLUICE_COUNTERS_UNANSWERED` where the ledger did not answer: a durable one
   * may count all the same, and is as good sent again.
   */
  add(id: string, key: SketchKey, options?: SketchAddOptions): Promise<SketchReceipt>
  /** Different keys of an hour, about, of all processes that flushed; undefined where that hour is not kept apart any more. */
  hour(id: string, options?: HourReadOptions): Promise<number | undefined>
  /** Different keys of a day, or of several days together, about. */
  day(id: string, options?: DayReadOptions): Promise<number>
  /** All of an hour, to be merged with that of other ids. */
  hourSketch(id: string, options?: HourReadOptions): Promise<HyperLogLog | undefined>
  /** All of a day, or of several. */
  daySketch(id: string, options?: DayReadOptions): Promise<HyperLogLog>
  /** Merges rows of the ledger now, which some process does about once an hour by itself. Answers how many went. */
  compact(): Promise<number>
  /** Resolves when the ledger has all that was counted here so far. Rejects where that failed; nothing is lost. */
  flush(): Promise<void>
  /** Flushes and ends. */
  close(): Promise<void>
}

/**
 * How many different keys a fleet saw under each id, by hour and by day of UTC, about, to 0.81 % unless `precision` says
 * otherwise: hours merge into days, in which a key that comes in several hours is one. Each process writes what it
 * counted to the ledger every `flushMs`; what it did not flush is gone with it when it is killed, and nothing that was
 * `durable`. Reads ask the ledger. The first add asks it, too, which seed counts.
 *
 * All processes of a name have one `precision` and one `seed`: others are refused by `SLUICE_SKETCH_MISMATCH` with their
 * first call. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION`, `SLUICE_BAD_NAME` and `SLUICE_BAD_SEED`.
 */
export function uniqueCounters(options: UniqueCountersOptions = {}): UniqueCounters {
  const { precision, seed } = optionsOf('uniqueCounters', options, [...STORED_SKETCH_OPTIONS, 'precision', 'seed'])
  const sketch = new HyperLogLog({ precision, seed })
  const claim = new UniqueClaim(sketch.precision, seed === undefined ? undefined : sketch.seed)
  return new LedgerUniques(new StoredSketches('uniqueCounters', claim, options))
}

class LedgerUniques implements UniqueCounters {
  readonly #stored: StoredSketches<HyperLogLog, SketchKey>

  constructor(stored: StoredSketches<HyperLogLog, SketchKey>) {
    this.#stored = stored
  }

  add(id: string, key: SketchKey, options?: SketchAddOptions): Promise<SketchReceipt> {
    return this.#stored.add(id, key, options)
  }

  async hour(id: string, options?: HourReadOptions): Promise<number | undefined> {
    return (await this.#stored.hour(id, options))?.count()
  }

  async day(id: string, options?: DayReadOptions): Promise<number> {
    return (await this.#stored.day(id, options)).count()
  }

  hourSketch(id: string, options?: HourReadOptions): Promise<HyperLogLog | undefined> {
    return this.#stored.hour(id, options)
  }

  daySketch(id: string, options?: DayReadOptions): Promise<HyperLogLog> {
    return this.#stored.day(id, options)
  }

  compact(): Promise<number> {
    return this.#stored.compact()
  }

  flush(): Promise<void> {
    return this.#stored.flush()
  }

  close(): Promise<void> {
    return this.#stored.close()
  }
}

/** The ledger keeps the precision, and the id of the seed that processes were told or the seed that one of them drew. */
class UniqueClaim implements FormatClaim<HyperLogLog, SketchKey> {
  readonly kind = 'unique'
  readonly text: string
  readonly #precision: number
  readonly #seed: SketchSeed | undefined

  constructor(precision: number, seed: SketchSeed | undefined) {
    this.#precision = precision
    this.#seed = seed
    const own = seed ? { seedId: idOf(seed) } : { seed: randomBytes(32).toString('base64url') }
    this.text = JSON.stringify({ precision, ...own })
  }

  agreed(kept: string): UniqueFormat {
    const { precision, seed, seedId } = keptFormat(kept)
    if (precision !== this.#precision) {
      throw mismatch(`precision: got ${this.#precision}, expected ${precision}, with which this name counts`)
    }
    const drawn = typeof seed === 'string' ? new SketchSeed(seed) : undefined
    const agreed = this.#seed ?? drawn
    const expected = drawn ? idOf(drawn) : seedId
    if (agreed && idOf(agreed) === expected) return new UniqueFormat(this.#precision, agreed)
    throw mismatch(`seed: got ${this.#seed ? 'another one' : 'none'}, expected the one with which this name counts`)
  }
}

class UniqueFormat implements SketchFormat<HyperLogLog, SketchKey> {
  readonly #options: { readonly precision: number; readonly seed: SketchSeed }

  constructor(precision: number, seed: SketchSeed) {
    this.#options = { precision, seed }
  }

  make(): HyperLogLog {
    return new HyperLogLog(this.#options)
  }

  fromBytes(bytes: Uint8Array): HyperLogLog {
    return HyperLogLog.fromBytes(bytes, { seed: this.#options.seed })
  }

  toBytes(sketch: HyperLogLog): Uint8Array {
    return sketch.toBytes()
  }

  count(sketch: HyperLogLog, key: SketchKey): void {
    sketch.add(key)
  }
}

function idOf({ idLow, idHigh }: SketchSeed): string {
  return `${idLow}-${idHigh}`
}

function mismatch(message: string): SketchError {
  return new SketchError('SLUICE_SKETCH_MISMATCH', `uniqueCounters: ${message}`)
}
