import { describe, expect, test } from '@jest/globals'
import {
  capEntry,
  compileHeaders,
  type HeaderEntry,
  type HeaderOptions,
  httpDenial,
  isLimitField,
  vendorLines,
} from '@sluice/http'
import { ChargeVerdict, compilePolicy, type PolicyVerdict } from '@sluice/limiter-core/backend'
import { decisionOf, entryOf, WALL_MS } from './header-fields.ts'

const OPENAI = { headers: 'openai' } as const
const ANTHROPIC = { headers: 'anthropic' } as const

function verdict(unit: string | undefined, waitMs = 0, resetMs = 60_000, remaining = 7, limit = 10): PolicyVerdict {
  const policy = compilePolicy({ name: unit ?? 'plain', limit, window: '1m', ...(unit && { unit }) })
  return new ChargeVerdict(policy, false, waitMs > 0 ? 0 : remaining, waitMs, resetMs)
}

/** The fields of limiters whose denial, if there is one, has this wait. */
function linesOf(entries: readonly HeaderEntry[], waitMs = 0): Record<string, string> {
  const denial = entries.every(({ allowed }) => allowed) ? undefined : httpDenial(429, [], waitMs)
  return Object.fromEntries(vendorLines(entries, denial, () => WALL_MS))
}

function fieldsOf(options: HeaderOptions, ...verdicts: readonly PolicyVerdict[]): Record<string, string> {
  const decision = decisionOf(...verdicts)
  return linesOf([entryOf(decision, options)], decision.retryAfterMs)
}

function resetOf(options: HeaderOptions, resetMs: number): string | undefined {
  const fields = fieldsOf(options, verdict(undefined, 0, resetMs))
  return fields['x-ratelimit-reset-requests'] ?? fields['anthropic-ratelimit-requests-reset']
}

describe('the reset of the dialect openai', () => {
  test.each([
    [0, '0s'],
    [0.25, '1ms'],
    [120, '120ms'],
    [999.2, '1s'],
    [1_000, '1s'],
    [8_640, '8.64s'],
    [26_001, '26.001s'],
    [59_999.5, '1m0s'],
    [60_000.000000001, '1m0s'],
    [90_000, '1m30s'],
    [252_172, '4m12.172s'],
    [360_000, '6m0s'],
    [3_600_000, '1h0m0s'],
    [83_909_144, '23h18m29.144s'],
    [31 * 86_400_000, '744h0m0s'],
  ])('of %d ms is %s', (ms, shown) => {
    expect(resetOf(OPENAI, ms)).toBe(shown)
  })
})

test('a booked turn after the end of all usage is the reset', () => {
  const booked = compilePolicy({ name: 'plain', limit: 10, window: '1m', retry: 'booked' })
  expect(fieldsOf(OPENAI, new ChargeVerdict(booked, false, 0, 90_000, 60_000))).toMatchObject({
    'x-ratelimit-reset-requests': '1m30s',
  })
})

describe('the reset of the dialect anthropic', () => {
  test.each([
    [0, '2026-01-01T00:00:00Z'],
    [0.5, '2026-01-01T00:00:01Z'],
    [60_000.000000001, '2026-01-01T00:01:00Z'],
    [60_001, '2026-01-01T00:01:01Z'],
    [31 * 86_400_000, '2026-02-01T00:00:00Z'],
    // the last time that RFC 3339 can express
    [1e15, '9999-12-31T23:59:59Z'],
    [1e300, '9999-12-31T23:59:59Z'],
  ])('after %d ms is %s', (ms, shown) => {
    expect(WALL_MS).toBe(Date.UTC(2026, 0, 1))
    expect(resetOf(ANTHROPIC, ms)).toBe(shown)
  })
})

describe('the unit of a policy', () => {
  test.each([
    [undefined, 'requests'],
    ['request', 'requests'],
    ['requests', 'requests'],
    ['token', 'tokens'],
    ['tokens', 'tokens'],
  ])('%s is shown as %s', (unit, kind) => {
    expect(fieldsOf(OPENAI, verdict(unit))).toEqual({
      [`x-ratelimit-limit-${kind}`]: '10',
      [`x-ratelimit-remaining-${kind}`]: '7',
      [`x-ratelimit-reset-${kind}`]: '1m0s',
    })
    expect(fieldsOf(ANTHROPIC, verdict(unit))).toMatchObject({ [`anthropic-ratelimit-${kind}-remaining`]: '7' })
  })

  test.each(['input-tokens', 'input-token', 'output-tokens', 'output-token'])(
    '%s exists only for anthropic',
    (unit) => {
      const kind = `${unit.split('-')[0]}-tokens`
      expect(fieldsOf(OPENAI, verdict(unit))).toEqual({})
      expect(fieldsOf(ANTHROPIC, verdict(unit))).toMatchObject({ [`anthropic-ratelimit-${kind}-limit`]: '10' })
    },
  )

  test.each(['cents', 'Tokens', 'constructor', '__proto__'])('%s has no fields', (unit) => {
    expect(fieldsOf({ headers: ['openai', 'anthropic'] }, verdict(unit))).toEqual({})
  })
})

describe('several policies of one unit', () => {
  const limitShown = (...verdicts: readonly PolicyVerdict[]) =>
    fieldsOf(OPENAI, ...verdicts)['x-ratelimit-limit-requests']
  const near = verdict(undefined, 0, 60_000, 1, 10)
  const far = verdict('request', 0, 60_000, 50, 100)

  test('are shown by the one with the smallest part of its limit left', () => {
    expect([limitShown(near, far), limitShown(far, near)]).toEqual(['10', '10'])
  })

  test('are shown by a denied one, with the longest wait', () => {
    const denied = verdict('request', 500, 60_000, 0, 1_000)
    const later = verdict('requests', 900, 60_000, 0, 2_000)
    expect([limitShown(near, denied, far), limitShown(denied, near)]).toEqual(['1000', '1000'])
    expect([limitShown(denied, later), limitShown(later, denied)]).toEqual(['2000', '2000'])
  })

  test('are never shown by one in shadow mode, or by one whose backend failed', () => {
    const shadow = new ChargeVerdict(near.policy, true, 0, 500, 60_000)
    const unknown = new ChargeVerdict(near.policy, false, Number.POSITIVE_INFINITY, 0, 0)
    expect([limitShown(shadow, far), limitShown(unknown, far)]).toEqual(['100', '100'])
    expect(fieldsOf(OPENAI, unknown)).toEqual({})
  })
})

describe('the time to retry', () => {
  const LONGEST_MS = 2 ** 31 - 1

  test('is shown in whole milliseconds, of the policy that is available last', () => {
    const fields = fieldsOf(ANTHROPIC, verdict(undefined, 1_500), verdict('cents', 2_750))
    expect(fields['retry-after-ms']).toBe('2750')
    expect(fieldsOf(OPENAI, verdict(undefined, 0.5))['retry-after-ms']).toBe('1')
  })

  test('is absent unless a limiter of the dialect denies', () => {
    const passed = entryOf(decisionOf(verdict(undefined)), OPENAI)
    expect(linesOf([passed])).not.toHaveProperty('retry-after-ms')
    expect(linesOf([passed, entryOf(decisionOf(verdict('cents', 500)))], 500)).not.toHaveProperty('retry-after-ms')
    const full = capEntry(compileHeaders(OPENAI), 'cap', 1)
    expect(linesOf([passed, full], 1_000)).toMatchObject({
      'retry-after-ms': '1000',
      'x-ratelimit-remaining-requests': '7',
    })
  })

  // a client whose timer overflows would retry at once
  test('asks not to retry if a timer cannot wait that long', () => {
    expect(fieldsOf(OPENAI, verdict('cents', LONGEST_MS))).toEqual({ 'retry-after-ms': String(LONGEST_MS) })
    const more = { 'retry-after-ms': String(LONGEST_MS + 1), 'x-should-retry': 'false' }
    expect(fieldsOf(OPENAI, verdict('cents', LONGEST_MS + 1))).toEqual(more)
    expect(fieldsOf(OPENAI, verdict('cents', Number.POSITIVE_INFINITY))).toEqual({ 'x-should-retry': 'false' })
  })
})

test('every field with units is known to be a field of a limit', () => {
  const verdicts = ['requests', 'tokens', 'input-tokens', 'output-tokens'].map((unit) => verdict(unit))
  const fields = Object.keys(fieldsOf({ headers: ['openai', 'anthropic'] }, ...verdicts))
  expect([fields.length, fields.filter(isLimitField)]).toEqual([18, fields])
})
