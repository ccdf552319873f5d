import { describe, expect, test } from '@jest/globals'
import { type Backend, createLimiter, limitOverrides, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { type QuotaOptions, quota } from '../../packages/quotas/src/quota.ts'

/** Creates a backend that counts in the nominal window, and declares support for calendars. */
function calendarBackend(clock = new FakeClock({ nowMs: 0 })): Backend {
  const memory = memoryBackend({ clock })
  return {
    name: 'calendars',
    keepsCalendars: true,
    open: (...args) => memory.open(...args),
    takeAll: (...args) => memory.takeAll(...args),
    peekAll: (...args) => memory.peekAll(...args),
    adjustAll: (...args) => memory.adjustAll(...args),
    resetAll: (keys) => memory.resetAll(keys),
  }
}

describe('a quota', () => {
  const backend = calendarBackend()

  test('is a policy with the UTC calendar by default', () => {
    expect(quota({ limit: 50_000, per: 'month', backend })).toEqual({
      name: 'quota',
      limit: 50_000,
      window: '31d',
      calendar: { per: 'month', timeZone: 'UTC' },
      backend,
    })
  })

  test('accepts all options of a policy', () => {
    const overrides = limitOverrides({ limits: { vip: 20 } })
    const more = { name: 'calls', unit: 'calls', mode: 'shadow', overrides } as const
    const calendar = { per: 'week', timeZone: 'Asia/Kathmandu', anchor: 7, carryOver: 5 } as const
    expect(quota({ limit: 10, backend, ...more, ...calendar })).toEqual({
      limit: 10,
      window: '169h',
      backend,
      calendar,
      ...more,
    })
  })

  test('has a window of 25 hours for days', () => {
    expect(quota({ limit: 1, per: 'day', backend }).window).toBe('25h')
  })

  test('has a time of day, and a time zone or a function that returns the zone of a key', () => {
    const zoneOf = (key: string): string | undefined => (key === 'a' ? 'Asia/Tokyo' : undefined)
    const options = { limit: 1, per: 'day', resetAt: '06:00', backend } as const
    expect(quota({ ...options, timeZone: 'Asia/Tokyo' }).calendar).toEqual({
      per: 'day',
      timeZone: 'Asia/Tokyo',
      resetAt: '06:00',
    })
    expect(quota({ ...options, timeZone: zoneOf }).calendar).toEqual({
      per: 'day',
      timeZone: 'UTC',
      zoneOf,
      resetAt: '06:00',
    })
  })

  test('can be combined with a rate limit on one request', async () => {
    const clock = new FakeClock({ nowMs: 0 })
    const monthly = quota({ limit: 3, per: 'month', backend: calendarBackend(clock) })
    const limiter = createLimiter({ policies: [{ name: 'rate', limit: 2, window: '1s' }, monthly], clock })
    const denied: (string | undefined)[] = []
    for (let taken = 0; taken < 5; taken++) {
      const { allowed, binding } = await limiter.take('key')
      denied.push(allowed ? undefined : binding.policy.name)
      if (taken === 2) clock.advance(1_000)
    }
    expect(denied).toEqual([undefined, undefined, 'rate', undefined, 'quota'])
    limiter.close()
  })

  test.each<[string, object, string, RegExp]>([
    [
      'an unknown option',
      { window: '1m' },
      'SLUICE_BAD_OPTION',
      /quota: expected .+, received an unknown option "window"/,
    ],
    [
      'an option of the policy in a limiter',
      { cost: { reserve: 500 } },
      'SLUICE_BAD_OPTION',
      /quota: expected cost beside the quota: \{ \.\.\.quota\(\{ … \}\), key, cost \}, received an unknown option "cost"/,
    ],
    [
      'no period',
      { per: undefined },
      'SLUICE_BAD_OPTION',
      /quota: per: expected one of 'day', 'week', 'month', received undefined/,
    ],
    ['an unknown period', { per: 'toString' }, 'SLUICE_BAD_OPTION', /quota: per: expected .+, received "toString"/],
    [
      'no backend',
      { backend: undefined },
      'SLUICE_BAD_OPTION',
      /quota: backend: expected a backend from createQuotas\(\), received undefined/,
    ],
    [
      'memory',
      { backend: memoryBackend() },
      'SLUICE_BAD_OPTION',
      /quota: backend: expected .+, received a backend that keeps no calendars/,
    ],
    ['no units', { limit: 0 }, 'SLUICE_BAD_LIMIT', /policy 'quota': limit: expected .+, received 0/],
    ['no name', { name: '' }, 'SLUICE_BAD_NAME', /name: expected .+, received ""/],
    ['an unknown zone', { timeZone: 'Mars' }, 'SLUICE_BAD_POLICY', /calendar\.timeZone: expected .+, received "Mars"/],
    ['a zone that is a number', { timeZone: 1 }, 'SLUICE_BAD_POLICY', /calendar\.timeZone: expected .+, received 1/],
    ...[24, '6:00', '24:00', '06:60', '06:00:00', ''].map((resetAt): [string, object, string, RegExp] => [
      `the time ${resetAt}`,
      { resetAt },
      'SLUICE_BAD_POLICY',
      /calendar\.resetAt: expected a local time such as '06:00', received /,
    ]),
    ['day 32', { anchor: 32 }, 'SLUICE_BAD_POLICY', /calendar\.anchor: expected .+, received 32/],
    [
      'a daily quota with an anchor',
      { per: 'day', anchor: 1 },
      'SLUICE_BAD_POLICY',
      /calendar\.anchor: expected undefined for a day, .+, received 1/,
    ],
    ['a negative carry-over', { carryOver: -1 }, 'SLUICE_BAD_POLICY', /calendar\.carryOver: expected .+, received -1/],
    ['an unknown mode', { mode: 'on' }, 'SLUICE_BAD_OPTION', /mode: expected .+, received "on"/],
    ['invalid overrides', { overrides: {} }, 'SLUICE_BAD_OPTION', /overrides: expected .+, received an object/],
  ])('is rejected with %s', (_, options, code, message) => {
    const build = (): unknown => quota({ limit: 10, per: 'month', backend, ...options } as QuotaOptions)
    expect(build).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
  })
})
