import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import type { Sketch } from '@sluice/sketches'
import { wholeWithin } from '../counter-options.ts'
import { dayOf, type HourlyOptions, hourOf, keptHoursOf, MOST_DAYS } from './utc-hours.ts'

/**
 * A sketch for each hour, merged into those of days once they are old. It reads no clock: `now` is handed in, epoch ms,
 * and the newest of a write says which hours there are.
 */
export class HourlySketches<Kind extends Sketch<Kind>> {
  readonly #make: () => Kind
  readonly #keptHours: number
  readonly #keptDays: number
  /** By their numbers since 1970. */
  readonly #hours = new Map<number, Kind>()
  readonly #days = new Map<number, Kind>()
  /** Number of the newest hour; -Infinity before the first write. */
  #newest = Number.NEGATIVE_INFINITY

  /** Throws `SLUICE_BAD_OPTION`. */
  constructor(owner: string, make: () => Kind, options: HourlyOptions) {
    const { keptHours, keptDays } = keptHoursOf(owner, options)
    this.#make = make
    this.#keptHours = keptHours
    this.#keptDays = keptDays
  }

  /** The sketch in which `now` counts; undefined where its day is not kept any more. */
  at(now: number): Kind | undefined {
    return this.#in(hourOf('add', now))
  }

  /** A new sketch of the hour of `now`; undefined where that is part of its day by now, or gone. */
  hour(now: number): Kind | undefined {
    const hour = hourOf('hour', now)
    return hour > this.#newest - this.#keptHours ? this.#merged([this.#hours.get(hour)]) : undefined
  }

  /** A new sketch of the day of `now` and those before it, `days` in all. */
  day(now: number, days: number): Kind {
    const last = dayOf(hourOf('day', now))
    const first = last - wholeWithin('day: days', days, MOST_DAYS) + 1
    const isIn = (day: number): boolean => day >= first && day <= last
    const inDays = [...this.#days].filter(([day]) => isIn(day))
    const inHours = [...this.#hours].filter(([hour]) => isIn(dayOf(hour)))
    return this.#merged([...inDays, ...inHours].map(([, sketch]) => sketch))
  }

  /** Throws `SLUICE_BAD_MESSAGE`, and `SLUICE_SKETCH_MISMATCH` for sketches that cannot be merged; then nothing has changed. */
  merge(other: unknown): void {
    if (!(other instanceof HourlySketches)) {
      throw new SluiceError(
        'SLUICE_BAD_MESSAGE',
        `merge: expected a counter of the same class, received ${kindOf(other)}`,
      )
    }
    const added = other as HourlySketches<Kind>
    this.#make().merge(added.#make())
    this.#advance(added.#newest)
    for (const [hour, sketch] of added.#hours) this.#in(hour)?.merge(sketch)
    for (const [day, sketch] of added.#days) if (this.#keeps(day)) this.#of(this.#days, day).merge(sketch)
  }

  #in(hour: number): Kind | undefined {
    this.#advance(hour)
    if (!this.#keeps(dayOf(hour))) return undefined
    return hour > this.#newest - this.#keptHours ? this.#of(this.#hours, hour) : this.#of(this.#days, dayOf(hour))
  }

  #advance(hour: number): void {
    if (hour <= this.#newest) return
    this.#newest = hour
    for (const [old, sketch] of this.#hours) {
      if (old > hour - this.#keptHours) continue
      this.#hours.delete(old)
      if (this.#keeps(dayOf(old))) this.#of(this.#days, dayOf(old)).merge(sketch)
    }
    for (const day of this.#days.keys()) if (!this.#keeps(day)) this.#days.delete(day)
  }

  #keeps(day: number): boolean {
    return day > dayOf(this.#newest) - this.#keptDays
  }

  #of(sketches: Map<number, Kind>, number: number): Kind {
    const sketch = sketches.get(number) ?? this.#make()
    sketches.set(number, sketch)
    return sketch
  }

  #merged(sketches: readonly (Kind | undefined)[]): Kind {
    const merged = this.#make()
    for (const sketch of sketches) if (sketch) merged.merge(sketch)
    return merged
  }
}
