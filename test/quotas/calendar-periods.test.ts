import { describe, expect, test } from '@jest/globals'
import type { PolicyCalendar } from '@sluice/limiter-core'
import { eachSeed } from '@sluice/testkit'
import { type CalendarPeriod, CalendarPeriods } from '../../packages/quotas/src/calendar/calendar-periods.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

function periodsOf(per: PolicyCalendar['per'], timeZone = 'UTC', anchor?: number, resetAt?: string): CalendarPeriods {
  return new CalendarPeriods({
    per,
    timeZone,
    ...(anchor !== undefined && { anchor }),
    ...(resetAt !== undefined && { resetAt }),
  })
}

function shown({ label, startsAt, endsAt }: CalendarPeriod): string {
  return `${label} ${iso(startsAt)} ${(endsAt - startsAt) / HOUR_MS}h`
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(':00.000Z', 'Z')
}

/** Returns the labels of `count` periods, starting with the period of the given instant. */
function labels(periods: CalendarPeriods, from: string, count: number): string[] {
  const all: string[] = []
  for (let period = periods.at(Date.parse(from)); all.length < count; period = periods.after(period)) {
    all.push(period.label)
  }
  return all
}

describe('a day', () => {
  test.each<[string, string, string, string]>([
    ['an ordinary one', 'UTC', '2026-11-01T12:00Z', '2026-11-01 2026-11-01T00:00Z 24h'],
    ['the last moment of a day', 'UTC', '2026-11-01T23:59:59.999Z', '2026-11-01 2026-11-01T00:00Z 24h'],
    ['the first moment of a day', 'UTC', '2026-11-02T00:00Z', '2026-11-02 2026-11-02T00:00Z 24h'],
    ['Berlin loses an hour', 'Europe/Berlin', '2024-03-31T12:00Z', '2024-03-31 2024-03-30T23:00Z 23h'],
    ['Berlin gains an hour', 'Europe/Berlin', '2024-10-27T12:00Z', '2024-10-27 2024-10-26T22:00Z 25h'],
    ['New York loses an hour', 'America/New_York', '2024-03-10T12:00Z', '2024-03-10 2024-03-10T05:00Z 23h'],
    ['New York gains an hour', 'America/New_York', '2024-11-03T12:00Z', '2024-11-03 2024-11-03T04:00Z 25h'],
    ['Sydney loses an hour', 'Australia/Sydney', '2024-10-06T02:00Z', '2024-10-06 2024-10-05T14:00Z 23h'],
    ['Sydney gains an hour', 'Australia/Sydney', '2024-04-07T02:00Z', '2024-04-07 2024-04-06T13:00Z 25h'],
    ['Lord Howe loses half an hour', 'Australia/Lord_Howe', '2024-10-06T02:00Z', '2024-10-06 2024-10-05T13:30Z 23.5h'],
    ['Lord Howe gains half an hour', 'Australia/Lord_Howe', '2024-04-07T02:00Z', '2024-04-07 2024-04-06T13:00Z 24.5h'],
    ['no midnight in Cairo', 'Africa/Cairo', '2024-04-26T12:00Z', '2024-04-26 2024-04-25T22:00Z 23h'],
    ['the day before it in Cairo', 'Africa/Cairo', '2024-04-25T21:59Z', '2024-04-25 2024-04-24T22:00Z 24h'],
    ['no midnight in Beirut', 'Asia/Beirut', '2024-03-31T12:00Z', '2024-03-31 2024-03-30T22:00Z 23h'],
    [
      'no midnight in Sao Paulo in the past',
      'America/Sao_Paulo',
      '2018-11-04T12:00Z',
      '2018-11-04 2018-11-04T03:00Z 23h',
    ],
    ['two midnights in Havana', 'America/Havana', '2024-11-03T12:00Z', '2024-11-03 2024-11-03T04:00Z 25h'],
    ['the second of them', 'America/Havana', '2024-11-03T05:00Z', '2024-11-03 2024-11-03T04:00Z 25h'],
    [
      '23 o’clock twice in Sao Paulo in the past',
      'America/Sao_Paulo',
      '2018-02-18T02:30Z',
      '2018-02-17 2018-02-17T02:00Z 25h',
    ],
    // clocks were set back from 00:01 to 23:01 of the day before: the new day continues
    ['St John’s in the past', 'America/St_Johns', '2010-11-07T02:30:30Z', '2010-11-07 2010-11-07T02:30Z 25h'],
    ['set back at 23:30 in St John’s', 'America/St_Johns', '2010-11-07T03:00Z', '2010-11-07 2010-11-07T02:30Z 25h'],
    ['a zone with :30', 'Asia/Kolkata', '2024-02-29T18:29Z', '2024-02-29 2024-02-28T18:30Z 24h'],
    ['a zone with :45', 'Asia/Kathmandu', '2024-02-29T18:15Z', '2024-03-01 2024-02-29T18:15Z 24h'],
    ['a zone with :45 and two offsets', 'Pacific/Chatham', '2024-04-07T02:00Z', '2024-04-07 2024-04-06T10:15Z 25h'],
    ['a time before 1970', 'UTC', '1969-12-31T23:59:59.999Z', '1969-12-31 1969-12-31T00:00Z 24h'],
  ])('%s (%s, %s)', (_, timeZone, at, expected) => {
    expect(shown(periodsOf('day', timeZone).at(Date.parse(at)))).toBe(expected)
  })

  test('that a zone skipped does not exist, in either direction', () => {
    const days = periodsOf('day', 'Pacific/Apia')
    const before = days.at(Date.parse('2011-12-30T09:59Z'))
    const after = days.at(Date.parse('2011-12-30T10:00Z'))
    expect([before, after].map(shown)).toEqual(['2011-12-29 2011-12-29T10:00Z 24h', '2011-12-31 2011-12-30T10:00Z 24h'])
    expect(days.after(before)).toEqual(after)
    expect(days.before(after)).toEqual(before)
  })

  test('is found for fractions of a millisecond, too', () => {
    const days = periodsOf('day')
    expect(days.at(DAY_MS - 0.5).label).toBe('1970-01-01')
    expect(days.at(DAY_MS + 0.5).label).toBe('1970-01-02')
  })
})

describe('a month', () => {
  const year = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((month) => String(month).padStart(2, '0'))

  test.each<[number, number, readonly number[]]>([
    [1, 2023, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
    [28, 2023, [28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28]],
    [29, 2023, [29, 28, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29]],
    [29, 2024, [29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29]],
    [30, 2023, [30, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30]],
    [30, 2024, [30, 29, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30]],
    [31, 2023, [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]],
    [31, 2024, [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]],
    [31, 1900, [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]],
  ])('starting on day %d, through %d', (anchor, inYear, days) => {
    const begins = year.map((month, index) => `${inYear}-${month}-${String(days[index]).padStart(2, '0')}`)
    for (const timeZone of ['UTC', 'America/Los_Angeles', 'Asia/Kathmandu']) {
      const months = periodsOf('month', timeZone, anchor)
      expect(labels(months, `${begins[0]}T12:00Z`, 12)).toEqual(begins)
      // also found from any date within a period
      for (const label of begins) {
        const nextDay = Date.parse(`${label}T12:00Z`) + DAY_MS
        expect(periodsOf('month', timeZone, anchor).at(nextDay).label).toBe(label)
        expect(months.after(months.before(months.at(nextDay))).label).toBe(label)
      }
    }
  })

  test('begins on the first by default', () => {
    expect(shown(periodsOf('month').at(Date.parse('2024-02-29T23:59Z')))).toBe('2024-02-01 2024-02-01T00:00Z 696h')
  })

  test.each([
    ['Europe/Berlin', '2024-10-27T00:30Z', '2024-10-01 2024-09-30T22:00Z 745h'],
    ['Europe/Berlin', '2024-03-31T01:30Z', '2024-03-01 2024-02-29T23:00Z 743h'],
    ['Pacific/Apia', '2011-12-30T10:00Z', '2011-12-01 2011-12-01T10:00Z 720h'],
  ])('is as long as its days (%s, %s)', (timeZone, at, expected) => {
    expect(shown(periodsOf('month', timeZone).at(Date.parse(at)))).toBe(expected)
  })

  test('whose first date was skipped by the zone begins with the next date', () => {
    const months = periodsOf('month', 'Pacific/Apia', 30)
    const period = months.at(Date.parse('2011-12-31T00:00Z'))
    expect(shown(period)).toBe('2011-12-30 2011-12-30T10:00Z 720h')
    expect(months.before(period).endsAt).toBe(period.startsAt)
  })
})

describe('a week', () => {
  test.each<[number, string, string]>([
    [1, '2025-01-01T12:00Z', '2024-12-30 2024-12-30T00:00Z 168h'],
    [7, '2025-01-01T12:00Z', '2024-12-29 2024-12-29T00:00Z 168h'],
    [3, '2025-01-01T00:00Z', '2025-01-01 2025-01-01T00:00Z 168h'],
    [4, '2025-01-01T12:00Z', '2024-12-26 2024-12-26T00:00Z 168h'],
    [1, '2021-01-03T23:59Z', '2020-12-28 2020-12-28T00:00Z 168h'],
    [1, '2021-01-04T00:00Z', '2021-01-04 2021-01-04T00:00Z 168h'],
    [1, '2016-01-01T00:00Z', '2015-12-28 2015-12-28T00:00Z 168h'],
  ])('starting on day %d contains %s', (anchor, at, expected) => {
    expect(shown(periodsOf('week', 'UTC', anchor).at(Date.parse(at)))).toBe(expected)
  })

  test('begins on Monday by default, and is as long as its days', () => {
    const weeks = periodsOf('week', 'Europe/Berlin')
    expect(shown(weeks.at(Date.parse('2024-10-27T22:59Z')))).toBe('2024-10-21 2024-10-20T22:00Z 169h')
    expect(shown(weeks.at(Date.parse('2024-03-31T12:00Z')))).toBe('2024-03-25 2024-03-24T23:00Z 167h')
  })
})

describe('an hour', () => {
  test.each<[string, string, string]>([
    ['UTC', '2024-06-01T10:59:59.999Z', '2024-06-01T10:00Z'],
    ['UTC', '2024-06-01T11:00Z', '2024-06-01T11:00Z'],
    ['Asia/Kolkata', '2024-06-01T10:29Z', '2024-06-01T09:30Z'],
    ['Asia/Kolkata', '2024-06-01T10:30Z', '2024-06-01T10:30Z'],
    ['Asia/Kathmandu', '2024-06-01T10:20Z', '2024-06-01T10:15Z'],
    // 02:00 to 03:00 occurs twice, and lasts two hours
    ['Europe/Berlin', '2024-10-27T00:30Z', '2024-10-27T00:00Z'],
    ['Europe/Berlin', '2024-10-27T01:00Z', '2024-10-27T01:00Z'],
    ['Europe/Berlin', '2024-10-27T01:30Z', '2024-10-27T01:00Z'],
    ['Europe/Berlin', '2024-03-31T01:00Z', '2024-03-31T01:00Z'],
    // from 02:00 to 01:30: an hour and a half
    ['Australia/Lord_Howe', '2024-04-06T14:59Z', '2024-04-06T14:00Z'],
    ['Australia/Lord_Howe', '2024-04-06T15:00Z', '2024-04-06T14:00Z'],
    ['Australia/Lord_Howe', '2024-04-06T15:29Z', '2024-04-06T14:00Z'],
    ['Australia/Lord_Howe', '2024-04-06T15:30Z', '2024-04-06T15:30Z'],
    // from 02:00 to 02:30: half an hour
    ['Australia/Lord_Howe', '2024-10-05T15:45Z', '2024-10-05T15:30Z'],
    ['Australia/Lord_Howe', '2024-10-05T16:00Z', '2024-10-05T16:00Z'],
    // from 00:01 to 01:01, and from 00:01 to 23:01
    ['America/St_Johns', '2010-03-14T03:30:30Z', '2010-03-14T03:30Z'],
    ['America/St_Johns', '2010-03-14T03:45Z', '2010-03-14T03:31Z'],
    ['America/St_Johns', '2010-11-07T02:30:30Z', '2010-11-07T02:30Z'],
    ['America/St_Johns', '2010-11-07T03:00Z', '2010-11-07T02:31Z'],
    ['Pacific/Apia', '2011-12-30T10:30Z', '2011-12-30T10:00Z'],
  ])('of %s at %s', (timeZone, at, expected) => {
    expect(iso(periodsOf('day', timeZone).hourAt(Date.parse(at)))).toBe(expected)
  })
})

const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Asia/Kathmandu'],
  ...['Africa/Cairo', 'Asia/Beirut', 'America/Sao_Paulo', 'America/Havana', 'America/St_Johns', 'Pacific/Apia'],
  ...['Pacific/Chatham', 'Pacific/Kiritimati', 'Africa/Casablanca', 'Antarctica/Troll', 'America/Asuncion'],
]

describe('with random zones and dates', () => {
  test('periods tile time without a gap, and contain the given instant', () =>
    eachSeed(25, async (random) => {
      const per = random.pick(['day', 'week', 'month'] as const)
      const anchor = per === 'day' ? undefined : 1 + random.whole(per === 'week' ? 7 : 31)
      const timeZone = random.pick(ZONES)
      const resetAt = random.pick([undefined, '00:00', '00:30', '02:30', '06:00', '23:45'])
      const periods = periodsOf(per, timeZone, anchor, resetAt)
      const start = Date.UTC(1990 + random.whole(45), random.whole(12), 1 + random.whole(28)) + random.whole(DAY_MS)
      let period = periods.at(start)
      expect(period.startsAt <= start && start < period.endsAt).toBe(true)
      for (let step = 0; step < 8; step++) {
        const next = periods.after(period)
        expect(next.startsAt).toBe(period.endsAt)
        expect(next.endsAt).toBeGreaterThan(next.startsAt)
        // an hour never spans two periods
        expect(periods.hourAt(next.startsAt)).toBe(next.startsAt)
        expect(next.label > period.label).toBe(true)
        expect(periods.before(next)).toEqual(period)
        // the result does not depend on the instant of the first call
        const within = next.startsAt + random.whole(next.endsAt - next.startsAt)
        for (const at of [next.startsAt, within, next.endsAt - 1]) {
          expect(periodsOf(per, timeZone, anchor, resetAt).at(at)).toEqual(next)
        }
        period = next
      }
    }))

  test('hours tile time without a gap or overlap', () =>
    eachSeed(25, async (random) => {
      const hours = periodsOf('day', random.pick(ZONES), undefined, random.pick([undefined, '02:15', '23:30']))
      // mostly where clocks are set
      const month = random.pick([1, 2, 3, 8, 9, 10])
      let at = Date.UTC(1990 + random.whole(45), month, 1 + random.whole(28)) + random.whole(DAY_MS)
      let start = hours.hourAt(at)
      for (let step = 0; step < 200; step++) {
        expect(start <= at && at - start < 2 * HOUR_MS).toBe(true)
        expect(hours.hourAt(start)).toBe(start)
        at += 1 + random.whole(HOUR_MS / 4)
        const next = hours.hourAt(at)
        expect(next).toBeGreaterThanOrEqual(start)
        if (next > start) expect(hours.hourAt(next - 1)).toBe(start)
        start = next
      }
    }))

  test('the period of the last call is cached', () => {
    const periods = periodsOf('month', 'Europe/Berlin')
    const at = Date.parse('2024-10-15T00:00Z')
    const period = periods.at(at)
    expect(periods.at(at + DAY_MS)).toBe(period)
    expect(periods.at(period.endsAt)).not.toBe(period)
  })
})
