import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { TDigest, type TDigestOptions } from '@sluice/sketches'
import { HourlySketches } from './hourly-sketches.ts'
import type { HourlyOptions } from './utc-hours.ts'

export interface DigestCounterOptions extends TDigestOptions, HourlyOptions {}

/**
 * How measured values are spread, by hour and by day of UTC: a `TDigest` for each, some KB. Quantiles of a day are those
 * of all of its values, and no mean of those of its hours. It reads no clock.
 */
export class DigestCounter {
  readonly #sketches: HourlySketches<TDigest>

  /** Throws `SLUICE_BAD_OPTION`. */
  constructor(options: DigestCounterOptions = {}) {
    const { hours, days, ...others } = optionsOf('DigestCounter', options, ['compression', 'scale', 'hours', 'days'])
    const { compression, scale } = new TDigest(others)
    this.#sketches = new HourlySketches('DigestCounter', () => new TDigest({ compression, scale }), { hours, days })
  }

  /**
   * Counts a value, any number but NaN and the infinite ones, at `now`, epoch ms; false where that day is not kept any
   * more. Throws `SLUICE_BAD_AMOUNT`, and `SLUICE_BAD_OPTION` for a `now` that is no time.
   */
  add(value: number, now: number): boolean {
    const sketch = this.#sketches.at(now)
    sketch?.add(value)
    return sketch !== undefined
  }

  /** From `q` 0 to 1, of the hour of `now`; NaN of no value; undefined where that hour is not kept apart any more. Throws `SLUICE_BAD_OPTION`. */
  hour(q: number, now: number): number | undefined {
    checkQuantile('hour', q)
    return this.#sketches.hour(now)?.quantile(q)
  }

  /** The same of the day of `now` and the days before it; `days`: 1 to 1,000 in all, default 1. NaN of no value. Throws `SLUICE_BAD_OPTION`. */
  day(q: number, now: number, days = 1): number {
    checkQuantile('day', q)
    return this.#sketches.day(now, days).quantile(q)
  }

  /** Adds all values of `other`: twice the same is counted twice. Throws `SLUICE_BAD_MESSAGE`. */
  merge(other: DigestCounter): void {
    this.#sketches.merge(other instanceof DigestCounter ? other.#sketches : other)
  }
}

/** Throws `SLUICE_BAD_OPTION` unless `q` is a number from 0 to 1. */
export function checkQuantile(call: string, q: unknown): void {
  if (typeof q === 'number' && q >= 0 && q <= 1) return
  throw badOption(`${call}: q`, q, 'a number from 0 to 1')
}
