import { integerFrom, kindOf, SluiceError } from '@sluice/limiter-core/backend'
import type { Sketch } from '@sluice/sketches'
import { dayOf, type HourlyOptions, hourOf, keptHoursOf, MAX_DAYS } from './utc-hours.ts'

/**
 * Sketches by UTC hour; the sketches of old hours are merged into the sketch of their day. It does not read a
 * clock: callers pass `now` in epoch ms, and the newest `now` of a write decides which hours and days are kept.
 */
export class HourlySketches<Kind extends Sketch<Kind>> {
  /** Class of the counter that the sketches belong to. */
  readonly owner: string
  /** Creates an empty sketch. */
  readonly make: () => Kind
  readonly #keptHours: number
  readonly #keptDays: number
  /** Sketches by hour number since 1970. */
  readonly hours: Map<number, Kind> = new Map()
  readonly days: Map<number, Kind> = new Map()
  /** Newest hour number; -Infinity before the first write. */
  newest: number = Number.NEGATIVE_INFINITY

  /** Throws `SLUICE_BAD_OPTION`. */
  constructor(owner: string, make: () => Kind, options: HourlyOptions) {
    const { keptHours, keptDays } = keptHoursOf(owner, options)
    this.owner = owner
    this.make = make
    this.#keptHours = keptHours
    this.#keptDays = keptDays
  }

  /** Returns the sketch to count in at `now`; undefined if that day is no longer kept. */
  at(now: number): Kind | undefined {
    return this.#in(hourOf('add', now))
  }

  /** Returns a new sketch of the hour of `now`; undefined if that hour was merged into its day or removed. */
  hour(now: number): Kind | undefined {
    const hour = hourOf('hour', now)
    return hour > this.newest - this.#keptHours ? this.#merged([this.hours.get(hour)]) : undefined
  }

  /** Returns a new sketch of `days` days up to and including the day of `now`. */
  day(now: number, days: number): Kind {
    const last = dayOf(hourOf('day', now))
    const first = last - integerFrom('day: days', days, 1, MAX_DAYS) + 1
    const isIn = (day: number): boolean => day >= first && day <= last
    const inDays = [...this.days].filter(([day]) => isIn(day))
    const inHours = [...this.hours].filter(([hour]) => isIn(dayOf(hour)))
    return this.#merged([...inDays, ...inHours].map(([, sketch]) => sketch))
  }

  /**
   * Merges the sketches of a counter of this or another copy of the package. Throws `SLUICE_BAD_MESSAGE`, and `SLUICE_SKETCH_MISMATCH` if the sketches cannot be merged; then nothing changes.
   */
  merge(other: unknown): void {
    const { sketches: added } = Object(other) as { readonly sketches?: HourlySketches<Kind> }
    if (added?.owner !== this.owner) {
      throw new SluiceError(
        'SLUICE_BAD_MESSAGE',
        `merge: expected a counter of the same class, received ${kindOf(other)}`,
      )
    }
    this.make().merge(added.make())
    this.#advance(added.newest)
    for (const [hour, sketch] of added.hours) this.#in(hour)?.merge(sketch)
    for (const [day, sketch] of added.days) if (this.#keeps(day)) this.#of(this.days, day).merge(sketch)
  }

  #in(hour: number): Kind | undefined {
    this.#advance(hour)
    if (!this.#keeps(dayOf(hour))) return undefined
    return hour > this.newest - this.#keptHours ? this.#of(this.hours, hour) : this.#of(this.days, dayOf(hour))
  }

  #advance(hour: number): void {
    if (hour <= this.newest) return
    this.newest = hour
    for (const [old, sketch] of this.hours) {
      if (old > hour - this.#keptHours) continue
      this.hours.delete(old)
      if (this.#keeps(dayOf(old))) this.#of(this.days, dayOf(old)).merge(sketch)
    }
    for (const day of this.days.keys()) if (!this.#keeps(day)) this.days.delete(day)
  }

  #keeps(day: number): boolean {
    return day > dayOf(this.newest) - this.#keptDays
  }

  #of(sketches: Map<number, Kind>, number: number): Kind {
    const sketch = sketches.get(number) ?? this.make()
    sketches.set(number, sketch)
    return sketch
  }

  #merged(sketches: readonly (Kind | undefined)[]): Kind {
    const merged = this.make()
    for (const sketch of sketches) if (sketch) merged.merge(sketch)
    return merged
  }
}
