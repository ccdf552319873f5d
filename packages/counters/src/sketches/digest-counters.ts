import { constants } from 'node:zlib'
import { optionsOf } from '@sluice/limiter-core/backend'
import { SketchError, TDigest, type TDigestOptions } from '@sluice/sketches'
import { checkQuantile } from '../kinds/digest-counter.ts'
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

/** Options of `digestCounters`. `compression` is 200 by default. */
export interface DigestCountersOptions extends StoredSketchOptions, TDigestOptions {}

/** Quantiles of measured values by id, hour and day, created by `digestCounters`. */
export interface DigestCounters {
  /**
   * Adds a finite number to the values of `id` in the current hour. Rejects with `SLUICE_BAD_COUNTER_ID`,
   * `SLUICE_BAD_AMOUNT`, `SLUICE_COUNTERS_FULL` if too many ids wait for the ledger, and `SLUICE_COUNTERS_UNAVAILABLE`
   * if the ledger does not reply; a durable value may still be counted then.
   */
  add(id: string, value: number, options?: SketchAddOptions): Promise<SketchReceipt>
  /**
   * Returns the quantile `q` (0 to 1) of an hour, over all processes that have flushed: NaN without values, undefined
   * if the hour is no longer kept separately.
   */
  hour(id: string, q: number, options?: HourReadOptions): Promise<number | undefined>
  /** Returns the quantile `q` of a day or of several days together; NaN without values. */
  day(id: string, q: number, options?: DayReadOptions): Promise<number>
  /**
   * Returns the digest of an hour, with an exact `count` and any number of quantiles for one read. Undefined if the
   * hour is no longer kept separately.
   */
  hourSketch(id: string, options?: HourReadOptions): Promise<TDigest | undefined>
  /** Returns the digest of a day or of several days together. */
  daySketch(id: string, options?: DayReadOptions): Promise<TDigest>
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

// after hundreds of merges, the rank error of the median is 2 % with a compression of 100, and 0.7 % with 200
const COMPRESSION = 200
const HEAD_BYTES = 64
const VALUE_BYTES = 16

/**
 * Creates counters for the distribution of measured values in a fleet, by id and by UTC hour and day. Quantiles of a
 * day are those of all its values, not averages over its hours; the 0.99 quantile has a rank error of at most 0.5 %.
 * Each process writes its values to the ledger every `flushMs`; a process that is killed loses the values it had not
 * flushed, except `durable` ones. Each value counts once. Reads query the ledger.
 *
 * All processes of a name must have the same `compression` and `scale`; otherwise their first call rejects with
 * `SLUICE_SKETCH_MISMATCH`. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_NAME`.
 */
export function digestCounters(options: DigestCountersOptions = {}): DigestCounters {
  const names = [...STORED_SKETCH_OPTIONS, 'compression', 'scale'] as const
  const { compression = COMPRESSION, scale } = optionsOf('digestCounters', options, names)
  return new LedgerDigests('digestCounters', digestClaim(new TDigest({ compression, scale })), options)
}

class LedgerDigests extends StoredSketches<TDigest, number> implements DigestCounters {
  async hour(id: string, q: number, options?: HourReadOptions): Promise<number | undefined> {
    checkQuantile('hour', q)
    return (await this.hourSketch(id, options))?.quantile(q)
  }

  async day(id: string, q: number, options?: DayReadOptions): Promise<number> {
    checkQuantile('day', q)
    return (await this.daySketch(id, options)).quantile(q)
  }
}

function digestClaim({ compression, scale }: TDigest): FormatClaim<TDigest, number> {
  const json = JSON.stringify({ compression, scale })
  return {
    kind: 'digest',
    json,
    resolve(kept) {
      if (kept.compression === compression && kept.scale === scale) return digestFormat({ compression, scale })
      const expected = `compression ${kept.compression} and scale ${kept.scale} as stored for this name`
      throw new SketchError('SLUICE_SKETCH_MISMATCH', `digestCounters: expected ${expected}, received ${json}`)
    },
  }
}

function digestFormat(
  shape: Required<TDigestOptions> & { readonly compression: number },
): SketchFormat<TDigest, number> {
  return {
    strategy: constants.Z_DEFAULT_STRATEGY,
    make: () => new TDigest(shape),
    fromBytes: (bytes) => TDigest.fromBytes(bytes),
    toBytes(sketch) {
      const bytes = sketch.toBytes()
      // a small digest is stored uncompressed, so that it loses no precision before it must
      if (bytes.length <= HEAD_BYTES + VALUE_BYTES * shape.compression) return bytes
      sketch.compress()
      return sketch.toBytes()
    },
    count: (sketch, value) => sketch.add(value),
  }
}
