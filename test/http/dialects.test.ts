import { describe, expect, test } from '@jest/globals'
import { capEntry, compileHeaders, type HeaderDialect } from '@sluice/http'
import { ChargeVerdict, compilePolicy } from '@sluice/limiter-core/backend'
import { decisionOf, entryOf, linesOf, WALL_MS } from './header-fields.ts'

const burst = compilePolicy({ name: 'burst', limit: 100, window: '1m' })
const tokens = compilePolicy({ name: 'tokens', limit: 9_000, window: '1h', unit: 'tokens' })
const passed = decisionOf(
  new ChargeVerdict(burst, false, 42, 0, 30_000),
  new ChargeVerdict(tokens, false, 8_000, 0, 900_500),
)
const denied = decisionOf(
  new ChargeVerdict(burst, false, 0, 4_200, 30_000),
  new ChargeVerdict(tokens, false, 8_000, 0, 900_500),
)
const never = decisionOf(new ChargeVerdict(tokens, false, 10, Number.POSITIVE_INFINITY, 60_000))

const POLICY = '"burst";q=100;w=60, "tokens";q=9000;qu="tokens";w=3600'
const R_AND_T = {
  passed: { 'RateLimit-Policy': POLICY, RateLimit: '"burst";r=42;t=30, "tokens";r=8000;t=901' },
  denied: { 'RateLimit-Policy': POLICY, RateLimit: '"burst";r=0;t=5' },
  never: { 'RateLimit-Policy': '"tokens";q=9000;qu="tokens";w=3600', RateLimit: '"tokens";r=0' },
  full: { 'RateLimit-Policy': '"cap";q=5;qu="concurrent-requests"', RateLimit: '"cap";r=0' },
}

/** The bytes of each dialect. */
const GOLDEN: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  draft: R_AND_T,
  'draft-8': R_AND_T,
  'draft-11': R_AND_T,
  next: {
    passed: { 'RateLimit-Policy': POLICY, RateLimit: '"burst";a=42;w=30, "tokens";a=8000;w=901' },
    denied: { 'RateLimit-Policy': POLICY, RateLimit: '"burst";a=0;w=5' },
    never: { 'RateLimit-Policy': '"tokens";q=9000;qu="tokens";w=3600', RateLimit: '"tokens";a=0' },
    full: { 'RateLimit-Policy': '"cap";q=5;qu="concurrent-requests"', RateLimit: '"cap";a=0' },
  },
  'draft-6': {
    passed: { 'RateLimit-Limit': '100', 'RateLimit-Remaining': '42', 'RateLimit-Reset': '30' },
    denied: { 'RateLimit-Limit': '100', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '5' },
    never: { 'RateLimit-Limit': '9000', 'RateLimit-Remaining': '0' },
    full: {},
  },
  legacy: {
    passed: {
      'X-RateLimit-Limit': '100',
      'X-RateLimit-Remaining': '42',
      'X-RateLimit-Reset': String(WALL_MS / 1_000 + 30),
    },
    denied: {
      'X-RateLimit-Limit': '100',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(WALL_MS / 1_000 + 5),
    },
    never: { 'X-RateLimit-Limit': '9000', 'X-RateLimit-Remaining': '0' },
    full: {},
  },
}

describe.each(Object.keys(GOLDEN) as HeaderDialect[])('the dialect %s', (headers) => {
  test('has these bytes', () => {
    const cap = capEntry(compileHeaders({ headers }), 'cap', 5)
    expect({
      passed: linesOf([entryOf(passed, { headers })]),
      denied: linesOf([entryOf(denied, { headers })]),
      never: linesOf([entryOf(never, { headers })]),
      full: linesOf([cap]),
    }).toEqual(GOLDEN[headers])
  })
})

test('one response has one dialect of RateLimit', () => {
  const both = { headers: ['draft-8', 'next'] } as const
  expect(() => compileHeaders(both)).toThrow("headers: expected only one of 'draft-8', 'next'")
  expect(compileHeaders({ headers: ['next', 'openai'] }).list).toBe(compileHeaders({ headers: 'next' }).list)
})
