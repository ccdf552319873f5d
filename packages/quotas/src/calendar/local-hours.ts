import { Temporal } from '@js-temporal/polyfill'

const HOUR_MS = 3_600_000
const NS_PER_MS = 1e6

/**
 * The hours of a time zone, which follow each other without gaps. An hour begins at a whole hour of local time, or when
 * clocks are set to another hour. An hour is longer if clocks are set back within it, and shorter if its beginning is
 * skipped.
 */
export class LocalHours {
  readonly #timeZone: string
  #startsAt = Number.POSITIVE_INFINITY
  /** All instants until this one are in the hour that begins at `#startsAt`. */
  #knownUntil = Number.NEGATIVE_INFINITY

  /** `timeZone` must be supported by this process. */
  constructor(timeZone: string) {
    this.#timeZone = timeZone
  }

  /**
   * Returns a later instant, in epoch ms, before which all instants from `epochMs` are in the same hour: the end of the
   * hour, or the time at which clocks are set back within it.
   */
  sameUntil(epochMs: number): number {
    this.startAt(epochMs)
    return this.#knownUntil
  }

  /** Returns the start of the hour that contains an instant, both in epoch ms. The last hour is cached. */
  startAt(epochMs: number): number {
    if (epochMs >= this.#startsAt && epochMs < this.#knownUntil) return this.#startsAt
    const time = this.#timeAt(epochMs)
    const wholeAt = time.epochMilliseconds - msIntoHour(time)
    const endsAt = wholeAt + HOUR_MS
    this.#startsAt = this.#startOf(time, wholeAt)
    this.#knownUntil = this.#isSetBetween(time, endsAt - 1) ? changeOf(time, 'next') : endsAt
    return this.#startsAt
  }

  /** Returns the start of the hour of `time`. `wholeAt` is its start unless clocks were set within the hour. */
  #startOf(time: Temporal.ZonedDateTime, wholeAt: number): number {
    if (!this.#isSetBetween(time, wholeAt)) return wholeAt
    // 'previous' excludes the given instant, so search from just after it
    const changedAt = changeOf(time.add({ nanoseconds: 1 }), 'previous')
    const before = this.#timeAt(changedAt - 1)
    const isSame = before.hour === time.hour && before.toPlainDate().equals(time.toPlainDate())
    return isSame ? this.#startOf(before, before.epochMilliseconds - msIntoHour(before)) : changedAt
  }

  /** Whether clocks are set between the two instants. It avoids the search for the change, which takes milliseconds. */
  #isSetBetween(time: Temporal.ZonedDateTime, epochMs: number): boolean {
    return this.#timeAt(epochMs).offsetNanoseconds !== time.offsetNanoseconds
  }

  #timeAt(epochMs: number): Temporal.ZonedDateTime {
    return Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs)).toZonedDateTimeISO(this.#timeZone)
  }
}

/** Returns when clocks are set next, or were set last. */
function changeOf(time: Temporal.ZonedDateTime, direction: 'next' | 'previous'): number {
  return time.getTimeZoneTransition(direction)?.epochMilliseconds ?? time.epochMilliseconds
}

function msIntoHour({ minute, second, millisecond, microsecond, nanosecond }: Temporal.ZonedDateTime): number {
  return minute * 60_000 + second * 1_000 + millisecond + (microsecond * 1_000 + nanosecond) / NS_PER_MS
}
