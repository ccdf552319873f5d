import { describe, expect, test } from '@jest/globals'
import type { PolicyCalendar } from '@sluice/limiter-core'
import { type CalendarPeriod, CalendarPeriods } from '../../../packages/quotas/src/calendar/calendar-periods.ts'

const HOUR_MS = 3_600_000

function shown({ label, startsAt, endsAt }: CalendarPeriod): string {
  return `${label} ${iso(startsAt)} ${(endsAt - startsAt) / HOUR_MS}h`
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(':00.000Z', 'Z')
}

describe('a period with a time of day', () => {
  test.each<[string, string, string, string, string]>([
    ['an ordinary one', 'UTC', '06:00', '2026-11-01T12:00Z', '2026-11-01 2026-11-01T06:00Z 24h'],
    ['before the time of its date', 'UTC', '06:00', '2026-11-01T05:59Z', '2026-10-31 2026-10-31T06:00Z 24h'],
    ['midnight itself', 'Europe/Berlin', '00:00', '2024-03-31T12:00Z', '2024-03-31 2024-03-30T23:00Z 23h'],
    ['a midnight that is skipped', 'Africa/Cairo', '00:00', '2024-04-26T12:00Z', '2024-04-26 2024-04-25T22:00Z 23h'],
    // 02:00 to 03:00 does not exist: the period begins at 03:00
    ['a time that is skipped', 'Europe/Berlin', '02:30', '2024-03-31T01:00Z', '2024-03-31 2024-03-31T01:00Z 23.5h'],
    ['the day before', 'Europe/Berlin', '02:30', '2024-03-31T00:59Z', '2024-03-30 2024-03-30T01:30Z 23.5h'],
    // 02:00 to 03:00 occurs twice: the period begins at the first 02:30
    ['a time that is repeated', 'Europe/Berlin', '02:30', '2024-10-27T00:30Z', '2024-10-27 2024-10-27T00:30Z 25h'],
    ['the second of them', 'Europe/Berlin', '02:30', '2024-10-27T01:30Z', '2024-10-27 2024-10-27T00:30Z 25h'],
    ['a time after the change', 'Europe/Berlin', '06:00', '2024-10-27T04:59Z', '2024-10-26 2024-10-26T04:00Z 25h'],
    // the zone skipped 2011-12-30
    ['a date that is skipped', 'Pacific/Apia', '06:00', '2011-12-30T15:59Z', '2011-12-29 2011-12-29T16:00Z 24h'],
    ['the date after it', 'Pacific/Apia', '06:00', '2011-12-30T16:00Z', '2011-12-31 2011-12-30T16:00Z 24h'],
  ])('%s (%s at %s, %s)', (_, timeZone, resetAt, at, expected) => {
    expect(shown(new CalendarPeriods({ per: 'day', timeZone, resetAt }).at(Date.parse(at)))).toBe(expected)
  })

  test('begins at the time on its anchor', () => {
    const months = new CalendarPeriods({ per: 'month', timeZone: 'America/New_York', anchor: 31, resetAt: '09:30' })
    const january = months.at(Date.parse('2023-01-31T14:30Z'))
    expect([january, months.after(january)].map(({ label }) => label)).toEqual(['2023-01-31', '2023-02-28'])
    expect(months.at(Date.parse('2023-01-31T14:29Z')).label).toBe('2022-12-31')
    const weeks = new CalendarPeriods({ per: 'week', timeZone: 'UTC', anchor: 7, resetAt: '18:00' })
    expect(shown(weeks.at(Date.parse('2025-01-05T17:59Z')))).toBe('2024-12-29 2024-12-29T18:00Z 168h')
  })

  test('divides the hour in which it begins', () => {
    const days = new CalendarPeriods({ per: 'day', timeZone: 'UTC', resetAt: '06:20' })
    const [before, after] = ['2026-11-01T06:19Z', '2026-11-01T06:20Z'].map((at) => Date.parse(at))
    expect([before, after].map((at) => iso(days.hourAt(at)))).toEqual(['2026-11-01T06:00Z', '2026-11-01T06:20Z'])
    expect([before, after].map((at) => iso(days.sameHourUntil(at)))).toEqual(['2026-11-01T06:20Z', '2026-11-01T07:00Z'])
  })
})

describe('after a period of another zone', () => {
  /** Returns the periods from the end of a period until they are those of the zone. */
  function approach(per: PolicyCalendar['per'], timeZone: string, endedAt: string): string[] {
    const periods = new CalendarPeriods({ per, timeZone })
    const all: CalendarPeriod[] = []
    for (let at = Date.parse(endedAt); ; at = all.at(-1)?.endsAt as number) {
      const next = periods.following(Date.parse(endedAt), at)
      expect(periods.startAfter({ endsAt: Date.parse(endedAt) }, all.length + 1)).toBe(next.startsAt)
      all.push(next)
      if (next.startsAt === periods.at(next.startsAt).startsAt) return all.map(shown)
    }
  }

  test.each<[string, PolicyCalendar['per'], string, string, readonly string[]]>([
    [
      'from Berlin to Paris, nothing changes',
      'day',
      'Europe/Paris',
      '2026-11-01T23:00Z',
      ['2026-11-02 2026-11-01T23:00Z 24h'],
    ],
    [
      'from Berlin to New York, the next day is longer',
      'day',
      'America/New_York',
      '2026-11-10T23:00Z',
      ['2026-11-11 2026-11-10T23:00Z 30h', '2026-11-12 2026-11-12T05:00Z 24h'],
    ],
    [
      'from Berlin to Moscow, the next days are an hour shorter',
      'day',
      'Europe/Moscow',
      '2026-11-10T23:00Z',
      ['2026-11-11 2026-11-10T23:00Z 23h', '2026-11-12 2026-11-11T22:00Z 23h', '2026-11-13 2026-11-12T21:00Z 24h'],
    ],
    [
      'from Honolulu to Tokyo, over the date line, the next day is longer',
      'day',
      'Asia/Tokyo',
      '2026-11-10T10:00Z',
      ['2026-11-11 2026-11-10T10:00Z 29h', '2026-11-12 2026-11-11T15:00Z 24h'],
    ],
    [
      'months meet at once, and are shorter by the difference of the zones',
      'month',
      'Europe/Berlin',
      '2026-12-01T05:00Z',
      ['2026-12-01 2026-12-01T05:00Z 738h', '2027-01-01 2026-12-31T23:00Z 744h'],
    ],
    [
      'months meet at once, and are longer by the difference of the zones',
      'month',
      'America/New_York',
      '2026-11-30T23:00Z',
      ['2026-12-01 2026-11-30T23:00Z 750h', '2027-01-01 2027-01-01T05:00Z 744h'],
    ],
    [
      'weeks, too',
      'week',
      'Asia/Tokyo',
      '2026-11-09T00:00Z',
      ['2026-11-09 2026-11-09T00:00Z 159h', '2026-11-16 2026-11-15T15:00Z 168h'],
    ],
  ])('%s', (_, per, timeZone, endedAt, expected) => {
    expect(approach(per, timeZone, endedAt)).toEqual(expected)
  })

  test('the periods of the zone apply again if the key was not used for a while', () => {
    const days = new CalendarPeriods({ per: 'day', timeZone: 'Europe/Moscow' })
    const at = Date.parse('2026-11-20T12:00Z')
    expect(days.following(Date.parse('2026-11-10T23:00Z'), at)).toEqual(days.at(at))
  })
})
