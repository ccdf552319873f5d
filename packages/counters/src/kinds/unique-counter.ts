import { optionsOf } from '@sluice/limiter-core/backend'
import { HyperLogLog, type HyperLogLogOptions, type SketchKey } from '@sluice/sketches'
import { HourlySketches } from './hourly-sketches.ts'
import type { HourlyOptions } from './utc-hours.ts'

export interface UniqueCounterOptions extends HyperLogLogOptions, HourlyOptions {}

/**
 * Number of distinct keys by UTC hour and day, as one `HyperLogLog` each: 16 KiB and a standard error of 0.81 % with
 * the default `precision`. A key seen in several hours counts once for their day. It does not read a clock. Counters
 * can be merged if they have the same `seed`.
 */
export class UniqueCounter {
  private readonly sketches: HourlySketches<HyperLogLog>

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. */
  constructor(options: UniqueCounterOptions = {}) {
    const { hours, days, ...others } = optionsOf('UniqueCounter', options, ['precision', 'seed', 'hours', 'days'])
    // a seed takes memory, so all sketches share one
    const { precision, seed } = new HyperLogLog(others)
    this.sketches = new HourlySketches('UniqueCounter', () => new HyperLogLog({ precision, seed }), { hours, days })
  }

  /**
   * Counts a key at `now`, in epoch ms. Returns false if that day is no longer kept. Throws `SLUICE_BAD_OPTION` if
   * `now` is not a time.
   */
  add(key: SketchKey, now: number): boolean {
    const sketch = this.sketches.at(now)
    sketch?.add(key)
    return sketch !== undefined
  }

  /**
   * Returns the estimated number of distinct keys in the hour of `now`; undefined if that hour is no longer kept
   * separately. Throws `SLUICE_BAD_OPTION`.
   */
  hour(now: number): number | undefined {
    return this.sketches.hour(now)?.count()
  }

  /**
   * Returns the estimated number of distinct keys in `days` days up to and including the day of `now`: 1 to 1,000,
   * default 1. Throws `SLUICE_BAD_OPTION`.
   */
  day(now: number, days = 1): number {
    return this.sketches.day(now, days).count()
  }

  /**
   * Adds the keys of `other`; repeated merges change nothing. Throws `SLUICE_BAD_MESSAGE` and `SLUICE_SKETCH_MISMATCH`.
   */
  merge(other: UniqueCounter): void {
    this.sketches.merge(other)
  }
}
