import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { TDigest, type TDigestOptions } from '@sluice/sketches'
import { HourlySketches } from './hourly-sketches.ts'
import type { HourlyOptions } from './utc-hours.ts'

export interface DigestCounterOptions extends TDigestOptions, HourlyOptions {}

/**
 * Distribution of measured values by UTC hour and day, as one `TDigest` of a few KB each. Quantiles of a day are
 * computed from all values of the day, not from hourly quantiles. It does not read a clock.
 */
export class DigestCounter {
  private readonly sketches: HourlySketches<TDigest>

  /** Throws `SLUICE_BAD_OPTION`. */
  constructor(options: DigestCounterOptions = {}) {
    const { hours, days, ...others } = optionsOf('DigestCounter', options, ['compression', 'scale', 'hours', 'days'])
    const { compression, scale } = new TDigest(others)
    this.sketches = new HourlySketches('DigestCounter', () => new TDigest({ compression, scale }), { hours, days })
  }

  /**
   * Counts a finite `value` at `now`, in epoch ms. Returns false if that day is no longer kept. Throws
   * `SLUICE_BAD_AMOUNT`, and `SLUICE_BAD_OPTION` if `now` is not a time.
   */
  add(value: number, now: number): boolean {
    const sketch = this.sketches.at(now)
    sketch?.add(value)
    return sketch !== undefined
  }

  /**
   * Returns the `q` quantile (0 to 1) of the hour of `now`: NaN without values, undefined if that hour is no longer
   * kept separately. Throws `SLUICE_BAD_OPTION`.
   */
  hour(q: number, now: number): number | undefined {
    checkQuantile('hour', q)
    return this.sketches.hour(now)?.quantile(q)
  }

  /**
   * Returns the `q` quantile (0 to 1) of `days` days up to and including the day of `now`: 1 to 1,000, default 1. NaN
   * without values. Throws `SLUICE_BAD_OPTION`.
   */
  day(q: number, now: number, days = 1): number {
    checkQuantile('day', q)
    return this.sketches.day(now, days).quantile(q)
  }

  /**
   * Adds all values of `other`; merging the same counter twice counts its values twice. Throws `SLUICE_BAD_MESSAGE` and
   * `SLUICE_SKETCH_MISMATCH`.
   */
  merge(other: DigestCounter): void {
    this.sketches.merge(other)
  }
}

/** Throws `SLUICE_BAD_OPTION` unless `q` is a number from 0 to 1. */
export function checkQuantile(call: string, q: unknown): void {
  if (typeof q === 'number' && q >= 0 && q <= 1) return
  throw badOption(`${call}: q`, q, 'a number from 0 to 1')
}
