import { Temporal } from '@js-temporal/polyfill'

const HOUR_MS = 3_600_000
const NS_PER_MS = 1e6

/**
 * The hours of a time zone. They tile time: each begins on a whole hour of local time, or where clocks are set to another
 * hour. One that is set back within itself is longer, and one that lacks its beginning shorter.
 */
export class LocalHours {
  readonly #timeZone: string
  #startsAt = Number.POSITIVE_INFINITY
  /** Until then all is of that hour. */
  #knownUntil = Number.NEGATIVE_INFINITY

  /** `timeZone` is one that this process knows. */
  constructor(timeZone: string) {
    this.#timeZone = timeZone
  }

  /** When the hour began that holds an instant, both in epoch ms. Within the last hour that was asked for it costs nothing. */
  startAt(epochMs: number): number {
    if (epochMs >= this.#startsAt && epochMs < this.#knownUntil) return this.#startsAt
    const time = this.#timeAt(epochMs)
    const wholeAt = time.epochMilliseconds - msIntoHour(time)
    const endsAt = wholeAt + HOUR_MS
    this.#startsAt = this.#startOf(time, wholeAt)
    this.#knownUntil = this.#isSetBetween(time, endsAt - 1) ? changeOf(time, 'next') : endsAt
    return this.#startsAt
  }

  /** `wholeAt`: when it would have begun had nobody set a clock. */
  #startOf(time: Temporal.ZonedDateTime, wholeAt: number): number {
    if (!this.#isSetBetween(time, wholeAt)) return wholeAt
    // a change at the very instant is the last one, too
    const changedAt = changeOf(time.add({ nanoseconds: 1 }), 'previous')
    const before = this.#timeAt(changedAt - 1)
    const isSame = before.hour === time.hour && before.toPlainDate().equals(time.toPlainDate())
    return isSame ? this.#startOf(before, before.epochMilliseconds - msIntoHour(before)) : changedAt
  }

  /** Whether clocks were set in between. To look for when they are takes milliseconds. */
  #isSetBetween(time: Temporal.ZonedDateTime, epochMs: number): boolean {
    return this.#timeAt(epochMs).offsetNanoseconds !== time.offsetNanoseconds
  }

  #timeAt(epochMs: number): Temporal.ZonedDateTime {
    return Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs)).toZonedDateTimeISO(this.#timeZone)
  }
}

/** When clocks are set next, or were set last. */
function changeOf(time: Temporal.ZonedDateTime, direction: 'next' | 'previous'): number {
  return time.getTimeZoneTransition(direction)?.epochMilliseconds ?? time.epochMilliseconds
}

function msIntoHour({ minute, second, millisecond, microsecond, nanosecond }: Temporal.ZonedDateTime): number {
  return minute * 60_000 + second * 1_000 + millisecond + (microsecond * 1_000 + nanosecond) / NS_PER_MS
}
