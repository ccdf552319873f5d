import { describe, expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import {
  type Answer,
  type Backend,
  type CompiledPolicy,
  type Counter,
  createLimiter,
  limitOverrides,
  memoryBackend,
  type PolicyCalendar,
  type PolicyInput,
} from '@sluice/limiter-core'
import { compilePolicy } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'

const month: PolicyCalendar = { per: 'month', timeZone: 'Europe/Berlin' }

function monthly(calendar: object = {}, more: Partial<PolicyInput> = {}): PolicyInput {
  return { name: 'calls', limit: 10, window: '31d', calendar: { ...month, ...calendar }, ...more }
}

/** A backend that supports calendars, and records the names under which it counts. */
function calendarBackend(clock = new FakeClock({ nowMs: 0 })): { backend: Backend<Answer>; names: string[] } {
  const memory = memoryBackend({ clock })
  const names: string[] = []
  const open = (compiled: CompiledPolicy, name: string, isOverride?: boolean): Counter<Answer> => {
    names.push(name)
    return memory.open(compiled, name, isOverride)
  }
  const backend: Backend<Answer> = {
    name: 'calendars',
    keepsCalendars: true,
    open,
    takeAll: (...args) => memory.takeAll(...args),
    peekAll: (...args) => memory.peekAll(...args),
    adjustAll: (...args) => memory.adjustAll(...args),
    resetAll: (keys) => memory.resetAll(keys),
  }
  return { backend, names }
}

const expectedZone = "calendar.timeZone: expected an IANA time zone such as 'Europe/Berlin', received"
const expectedCarryOver = 'calendar.carryOver: expected an integer of at least 0, received'

describe('a policy with a calendar', () => {
  test('is data: a fixed window of the longest period, and its calendar', () => {
    expect(compilePolicy(monthly({ anchor: 31, carryOver: 5 }))).toEqual({
      name: 'calls',
      algorithm: 'fixed-window',
      limit: 10,
      windowMs: 31 * 86_400_000,
      calendar: { per: 'month', timeZone: 'Europe/Berlin', anchor: 31, carryOver: 5 },
    })
  })

  test.each<[string, object, Partial<PolicyInput>, string, string]>([
    [
      'an unknown period',
      { per: 'year' },
      {},
      'SLUICE_BAD_OPTION',
      `calendar.per: expected one of 'day', 'week', 'month', received "year"`,
    ],
    ['an unknown option', { zone: 'UTC' }, {}, 'SLUICE_BAD_OPTION', 'unknown option'],
    ['an unknown zone', { timeZone: 'Mars/Olympus' }, {}, 'SLUICE_BAD_POLICY', `${expectedZone} "Mars/Olympus"`],
    ['an abbreviation', { timeZone: 'BST' }, {}, 'SLUICE_BAD_POLICY', `${expectedZone} "BST"`],
    ['no zone', { timeZone: '' }, {}, 'SLUICE_BAD_POLICY', `${expectedZone} ""`],
    ['a zone that is not a string', { timeZone: 1 }, {}, 'SLUICE_BAD_POLICY', `${expectedZone} 1`],
    ['an undefined zone', { timeZone: undefined }, {}, 'SLUICE_BAD_POLICY', `${expectedZone} undefined`],
    [
      'a zone of keys that is not a function',
      { zoneOf: 'UTC' },
      {},
      'SLUICE_BAD_OPTION',
      'calendar.zoneOf: expected a function, received a string of 3 characters',
    ],
    [
      'a time that is not a string',
      { resetAt: 6 },
      {},
      'SLUICE_BAD_POLICY',
      "calendar.resetAt: expected a local time such as '06:00', received 6",
    ],
    [
      'day 32 of a month',
      { anchor: 32 },
      {},
      'SLUICE_BAD_POLICY',
      'anchor: expected an integer from 1 to 31 for a month, received 32',
    ],
    ['day 0 of a month', { anchor: 0 }, {}, 'SLUICE_BAD_POLICY', 'for a month, received 0'],
    ['half a day', { anchor: 1.5 }, {}, 'SLUICE_BAD_POLICY', 'for a month, received 1.5'],
    [
      'day 8 of a week',
      { per: 'week', anchor: 8 },
      {},
      'SLUICE_BAD_POLICY',
      'anchor: expected an integer from 1 to 7 for a week, received 8',
    ],
    [
      'an anchor of days',
      { per: 'day', anchor: 1 },
      {},
      'SLUICE_BAD_POLICY',
      'anchor: expected undefined for a day, which starts at `resetAt`, received 1',
    ],
    ['a carry-over below 0', { carryOver: -1 }, {}, 'SLUICE_BAD_POLICY', `${expectedCarryOver} -1`],
    ['a carry-over of parts', { carryOver: 0.5 }, {}, 'SLUICE_BAD_POLICY', `${expectedCarryOver} 0.5`],
    [
      'an endless carry-over',
      { carryOver: Number.POSITIVE_INFINITY },
      {},
      'SLUICE_BAD_POLICY',
      `${expectedCarryOver} Infinity`,
    ],
    [
      'another algorithm',
      {},
      { algorithm: 'gcra' },
      'SLUICE_BAD_POLICY',
      'algorithm: expected fixed-window because the policy has a calendar, received "gcra"',
    ],
    [
      'a burst',
      {},
      { burst: 5 },
      'SLUICE_BAD_POLICY',
      'burst: expected undefined for fixed-window (an option of token-bucket and gcra), received 5',
    ],
    [
      'slices',
      {},
      { slices: 4 },
      'SLUICE_BAD_POLICY',
      'slices: expected undefined for fixed-window (an option of sliding-window), received 4',
    ],
  ])('is rejected with %s', (_, calendar, more, code, message) => {
    const { backend } = calendarBackend()
    const build = (): unknown => createLimiter({ policies: [monthly(calendar, more)], backend })
    expect(build).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }))
  })

  test('is rejected if its calendar is not an object', () => {
    const build = (): unknown => compilePolicy({ limit: 1, window: '1d', calendar: 'month' as never })
    expect(build).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })

  test('is rejected by a backend without calendar support', () => {
    const build = (): unknown => createLimiter({ policies: [monthly()], backend: memoryBackend() })
    expect(build).toThrow(
      expect.objectContaining({
        code: 'SLUICE_BAD_POLICY',
        message: expect.stringContaining(
          `policy 'calls': calendar: expected a quota backend, received backend "memory"`,
        ),
      }),
    )
  })

  test('is rejected by the default memory backend', () => {
    expect(() => createLimiter({ policies: [monthly()] })).toThrow(
      expect.objectContaining({ code: 'SLUICE_BAD_POLICY' }),
    )
  })

  test.each([
    ['month', 'app/calls/calendar-month@1'],
    ['week', 'app/calls/calendar-week@1'],
    ['day', 'app/calls/calendar-day@1'],
  ])('of a %s is counted as %s', (per, name) => {
    const { backend, names } = calendarBackend()
    createLimiter({ policies: [monthly({ per })], backend, scope: 'app' }).close()
    expect(names).toEqual([name])
  })

  test('works next to a rate policy in one limiter', async () => {
    const clock = new FakeClock({ nowMs: 0 })
    const { backend } = calendarBackend(clock)
    const policies = [{ name: 'rate', limit: 2, window: '1s' } as const, monthly({}, { limit: 3, backend })]
    const limiter = createLimiter({ policies, clock })
    const allowed: boolean[] = []
    for (let taken = 0; taken < 4; taken++) {
      allowed.push((await limiter.take('key')).allowed)
      clock.advance(1_000)
    }
    expect(allowed).toEqual([true, true, true, false])
    limiter.close()
  })

  test('supports limit overrides like any other policy', async () => {
    const clock = new FakeClock({ nowMs: 0 })
    const { backend, names } = calendarBackend(clock)
    const overrides = limitOverrides({ limits: { vip: 20 } })
    const limiter = createLimiter({ policies: [monthly({}, { overrides })], backend, scope: 'app', clock })
    expect((await limiter.take('vip', 15)).allowed).toBe(true)
    expect((await limiter.take('other', 15)).allowed).toBe(false)
    expect(new Set(names)).toEqual(new Set(['app/calls/calendar-month@1']))
    limiter.close()
  })
})

describe('plans', () => {
  function namesOf(...calendars: object[]): string[] {
    const { backend, names } = calendarBackend()
    const plans = calendars.map((calendar, index) => [`plan${index}`, [monthly(calendar, { limit: 10 + index })]])
    const options = { plans: Object.fromEntries(plans), plan: () => 'plan0', backend, scope: 'app' }
    const gate = new RateGate(options as never)
    gate.close()
    return names
  }

  test('with the same calendar share a count', () => {
    expect(new Set(namesOf({}, { anchor: 1 }, { carryOver: 5 }))).toEqual(new Set(['app/calls/calendar-month@1']))
    const zoned = [() => 'UTC', () => undefined].map((zoneOf) => ({ zoneOf, resetAt: '06:00' }))
    expect(new Set(namesOf(...zoned))).toEqual(new Set(['app/calls/calendar-month@1']))
  })

  test.each<[string, object]>([
    ['another time zone', { timeZone: 'UTC' }],
    ['another anchor', { anchor: 2 }],
    ['another time', { resetAt: '06:00' }],
    ['a zone for each key', { zoneOf: () => 'Europe/Berlin' }],
  ])('with %s have separate cells', (_, other) => {
    expect(new Set(namesOf({}, other))).toEqual(new Set(['app/calls/calendar-month@1+calendar-month@1']))
  })

  test('with different periods share one name, whatever their order', () => {
    const one = namesOf({}, { per: 'week' })
    expect(new Set(one)).toEqual(new Set(['app/calls/calendar-month@1+calendar-week@1']))
    expect(new Set(namesOf({ per: 'week' }, {}))).toEqual(new Set(one))
  })
})
