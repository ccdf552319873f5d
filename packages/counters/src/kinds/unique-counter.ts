import { optionsOf } from '@sluice/limiter-core/backend'
import { HyperLogLog, type HyperLogLogOptions, type SketchKey } from '@sluice/sketches'
import { HourlySketches } from './hourly-sketches.ts'
import type { HourlyOptions } from './utc-hours.ts'

export interface UniqueCounterOptions extends HyperLogLogOptions, HourlyOptions {}

/**
 * How many different keys there were, by hour and by day of UTC: a `HyperLogLog` for each, 16 KiB and a standard error
 * of 0.81 % unless `precision` says otherwise. A key that comes in several hours is one key of their day. It reads no
 * clock; counters merge that have one `seed`.
 */
export class UniqueCounter {
  readonly #sketches: HourlySketches<HyperLogLog>

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. */
  constructor(options: UniqueCounterOptions = {}) {
    const { hours, days, ...others } = optionsOf('UniqueCounter', options, ['precision', 'seed', 'hours', 'days'])
    // a seed takes memory, and all of these share one
    const { precision, seed } = new HyperLogLog(others)
    this.#sketches = new HourlySketches('UniqueCounter', () => new HyperLogLog({ precision, seed }), { hours, days })
  }

  /** Counts a key at `now`, epoch ms; false where that day is not kept any more. Throws `SLUICE_BAD_OPTION` for a `now` that is no time. */
  add(key: SketchKey, now: number): boolean {
    const sketch = this.#sketches.at(now)
    sketch?.add(key)
    return sketch !== undefined
  }

  /** Different keys of the hour of `now`, about; undefined where that hour is not kept apart any more. Throws `SLUICE_BAD_OPTION`. */
  hour(now: number): number | undefined {
    return this.#sketches.hour(now)?.count()
  }

  /** Different keys of the day of `now` and the days before it, about; `days`: 1 to 1,000 in all, default 1. Throws `SLUICE_BAD_OPTION`. */
  day(now: number, days = 1): number {
    return this.#sketches.day(now, days).count()
  }

  /** Afterwards it has seen what `other` has; twice is as good as once. Throws `SLUICE_BAD_MESSAGE` and `SLUICE_SKETCH_MISMATCH`. */
  merge(other: UniqueCounter): void {
    this.#sketches.merge(other instanceof UniqueCounter ? other.#sketches : other)
  }
}
