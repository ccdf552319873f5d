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

/**
 * Options of `uniqueCounters`. `seed` must stay the same in all processes of a name. Default: a random seed that the
 * ledger keeps for them.
 */
export interface UniqueCountersOptions extends StoredSketchOptions, HyperLogLogOptions {}

/** Estimated numbers of distinct keys by id, hour and day, created by `uniqueCounters`. */
export interface UniqueCounters {
  /**
   * Adds a key to `id` in the current hour. Rejects with `SLUICE_BAD_COUNTER_ID`, `SLUICE_COUNTERS_FULL` if too many
   * ids wait for the ledger, and `SLUICE_COUNTERS_UNAVAILABLE` if the ledger does not reply; a durable key may still be
   * counted then, and can safely be added again.
   */
  add(id: string, key: SketchKey, options?: SketchAddOptions): Promise<SketchReceipt>
  /**
   * Returns the estimated number of distinct keys of an hour, over all processes that have flushed; undefined if the
   * hour is no longer kept separately.
   */
  hour(id: string, options?: HourReadOptions): Promise<number | undefined>
  /** Returns the estimated number of distinct keys of a day or of several days together. */
  day(id: string, options?: DayReadOptions): Promise<number>
  /**
   * Returns the sketch of an hour, which can be merged with sketches of other ids. Undefined if the hour is no longer
   * kept separately.
   */
  hourSketch(id: string, options?: HourReadOptions): Promise<HyperLogLog | undefined>
  /** Returns the sketch of a day or of several days together. */
  daySketch(id: string, options?: DayReadOptions): Promise<HyperLogLog>
  /**
   * Merges rows of the ledger now; one process does so automatically about once an hour. Returns the number of rows
   * removed.
   */
  compact(): Promise<number>
  /** Resolves when the ledger has everything added here so far. Rejects if that fails; nothing is lost. */
  flush(): Promise<void>
  /** Flushes and closes. */
  close(): Promise<void>
}

/**
 * Creates counters for the number of distinct keys that a fleet sees, by id and by UTC hour and day. Estimates have a
 * standard error of 0.81 % unless `precision` is set. Hours merge into days, so a key in several hours of a day counts
 * once. Each process writes its keys to the ledger every `flushMs`; a process that is killed loses the keys it had not
 * flushed, except `durable` ones. Reads query the ledger, and so does the first add, which needs the seed.
 *
 * All processes of a name must have the same `precision` and `seed`; otherwise their first call rejects with
 * `SLUICE_SKETCH_MISMATCH`. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION`, `SLUICE_BAD_NAME` and `SLUICE_BAD_SEED`.
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

/** The ledger keeps the precision, and either the id of the configured seed or the random seed of the first process. */
function uniqueClaim(precision: number, configured: SketchSeed | undefined): FormatClaim<HyperLogLog, SketchKey> {
  const own = configured ? { seedId: idOf(configured) } : { seed: randomBytes(32).toString('base64url') }
  return {
    kind: 'unique',
    json: JSON.stringify({ precision, ...own }),
    resolve(kept) {
      if (kept.precision !== precision) {
        throw mismatch(`precision: expected ${kept.precision} as stored for this name, received ${precision}`)
      }
      const drawn = typeof kept.seed === 'string' ? new SketchSeed(kept.seed) : undefined
      const seed = configured ?? drawn
      const seedId = drawn ? idOf(drawn) : kept.seedId
      if (seed && idOf(seed) === seedId) return uniqueFormat(precision, seed)
      throw mismatch('seed: expected the seed stored for this name, received another seed or none')
    },
  }
}

function uniqueFormat(precision: number, seed: SketchSeed): SketchFormat<HyperLogLog, SketchKey> {
  return {
    // registers are runs of zeros at first, and noise later
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
