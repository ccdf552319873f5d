import { randomBytes } from 'node:crypto'
import { constants } from 'node:zlib'
import { optionsOf } from '@sluice/limiter-core/backend'
import { HyperLogLog, type HyperLogLogOptions, SketchError, type SketchKey, SketchSeed } from '@sluice/sketches'
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
   * too much waits for the ledger, and with `SLUICE_COUNTERS_UNAVAILABLE` where the ledger did not answer: a durable one
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
  const claim = uniqueClaim(sketch.precision, seed === undefined ? undefined : sketch.seed)
  return new LedgerUniques('uniqueCounters', claim, options)
}

class LedgerUniques extends StoredSketches<HyperLogLog, SketchKey> implements UniqueCounters {
  async hour(id: string, options?: HourReadOptions): Promise<number | undefined> {
    return (await this.hourSketch(id, options))?.count()
  }

  async day(id: string, options?: DayReadOptions): Promise<number> {
    return (await this.daySketch(id, options)).count()
  }
}

/** The ledger keeps the precision, and the id of the seed that processes were told or the seed that one of them drew. */
function uniqueClaim(precision: number, told: SketchSeed | undefined): FormatClaim<HyperLogLog, SketchKey> {
  const own = told ? { seedId: idOf(told) } : { seed: randomBytes(32).toString('base64url') }
  return {
    kind: 'unique',
    text: JSON.stringify({ precision, ...own }),
    agreed(kept) {
      if (kept.precision !== precision) {
        throw mismatch(`precision: expected ${kept.precision}, with which this name counts, received ${precision}`)
      }
      const drawn = typeof kept.seed === 'string' ? new SketchSeed(kept.seed) : undefined
      const seed = told ?? drawn
      const seedId = drawn ? idOf(drawn) : kept.seedId
      if (seed && idOf(seed) === seedId) return uniqueFormat(precision, seed)
      throw mismatch('seed: expected the one with which this name counts, received another one or none')
    },
  }
}

function uniqueFormat(precision: number, seed: SketchSeed): SketchFormat<HyperLogLog, SketchKey> {
  return {
    // registers are runs of zeros, and then noise
    strategy: constants.Z_RLE,
    make: () => new HyperLogLog({ precision, seed }),
    fromBytes: (bytes) => HyperLogLog.fromBytes(bytes, { seed }),
    toBytes: (sketch) => sketch.toBytes(),
    count: (sketch, key) => void sketch.add(key),
  }
}

function idOf({ idLow, idHigh }: SketchSeed): string {
  return `${idLow}-${idHigh}`
}

function mismatch(message: string): SketchError {
  return new SketchError('SLUICE_SKETCH_MISMATCH', `uniqueCounters: ${message}`)
}
