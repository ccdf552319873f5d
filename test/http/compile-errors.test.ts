import { describe, expect, test } from '@jest/globals'
import { InflightGate, RateGate } from '@sluice/http'
import { memoryBackend } from '@sluice/limiter-core'
import { codeOf } from '../code-of.ts'

const one = { limit: 1, window: '1m' }
const settle = () => 1

// values that an untyped caller may pass
const badLimits: readonly (readonly [code: string, options: unknown])[] = [
  ['SLUICE_BAD_OPTION', undefined],
  ['SLUICE_BAD_OPTION', null],
  ['SLUICE_BAD_OPTION', 'fast'],
  ['SLUICE_BAD_OPTION', { ...one, windw: '1m' }],
  ['SLUICE_BAD_OPTION', { ...one, next: true }],
  ['SLUICE_BAD_OPTION', { ...one, policies: [one] }],
  ['SLUICE_BAD_OPTION', { policies: [] }],
  ['SLUICE_BAD_OPTION', { policies: one }],
  ['SLUICE_BAD_OPTION', { policies: [{ ...one, lmit: 1 }] }],
  ['SLUICE_BAD_OPTION', { plans: {}, plan: settle }],
  ['SLUICE_BAD_OPTION', { plans: { free: [one] } }],
  ['SLUICE_BAD_OPTION', { plans: { free: [] }, plan: settle }],
  ['SLUICE_BAD_OPTION', { plans: 'free', plan: settle }],
  ['SLUICE_BAD_OPTION', { ...one, key: 'ip' }],
  ['SLUICE_BAD_OPTION', { policies: [{ ...one, key: 'ip' }] }],
  ['SLUICE_BAD_OPTION', { ...one, mode: 'on' }],
  ['SLUICE_BAD_OPTION', { ...one, status: 200 }],
  ['SLUICE_BAD_OPTION', { ...one, status: 600 }],
  ['SLUICE_BAD_OPTION', { ...one, status: '429' }],
  ['SLUICE_BAD_OPTION', { ...one, headers: 'all' }],
  ['SLUICE_BAD_OPTION', { ...one, headers: [] }],
  ['SLUICE_BAD_OPTION', { ...one, headers: ['draft', 'none'] }],
  ['SLUICE_BAD_OPTION', { ...one, headers: 'azure' }],
  ['SLUICE_BAD_OPTION', { ...one, headers: ['openai', 'OpenAI'] }],
  ['SLUICE_BAD_OPTION', { ...one, headers: 'legacy', legacy: { reset: 'ms' } }],
  ['SLUICE_BAD_OPTION', { ...one, legacy: 'delta' }],
  ['SLUICE_BAD_OPTION', { ...one, headersOn: 'errors' }],
  ['SLUICE_BAD_OPTION', { ...one, partitionKey: {} }],
  ['SLUICE_BAD_OPTION', { ...one, partitionKey: { secret: '' } }],
  ['SLUICE_BAD_OPTION', { ...one, partitionKey: 'secret' }],
  ['SLUICE_BAD_OPTION', { ...one, backend: 'redis' }],
  ['SLUICE_BAD_OPTION', { ...one, observers: 'console' }],
  ['SLUICE_BAD_OPTION', { ...one, observers: [null] }],
  ['SLUICE_BAD_LIMIT', { window: '1m' }],
  ['SLUICE_BAD_LIMIT', { ...one, limit: 0 }],
  ['SLUICE_BAD_LIMIT', { ...one, limit: 1.5 }],
  ['SLUICE_BAD_LIMIT', { ...one, limit: 10 ** 15 }],
  ['SLUICE_BAD_DURATION', { limit: 1 }],
  ['SLUICE_BAD_DURATION', { limit: 1, window: 60 }],
  ['SLUICE_BAD_NAME', { ...one, name: '' }],
  ['SLUICE_BAD_NAME', { ...one, name: 'badé' }],
  ['SLUICE_BAD_NAME', { ...one, name: 'a\r\nSet-Cookie: b' }],
  ['SLUICE_BAD_NAME', { ...one, unit: 'ä' }],
  ['SLUICE_BAD_NAME', { ...one, scope: '' }],
  ['SLUICE_BAD_POLICY', { ...one, slices: 2, algorithm: 'gcra' }],
  ['SLUICE_BAD_COST', { ...one, cost: -1 }],
  ['SLUICE_BAD_COST', { ...one, cost: Number.NaN }],
  ['SLUICE_BAD_COST', { ...one, cost: { reserve: 0, settle } }],
  ['SLUICE_BAD_COST', { ...one, cost: { reserve: 1 } }],
  ['SLUICE_BAD_OPTION', { ...one, cost: { reserve: 1, settle, settleOn: 'never' } }],
  ['SLUICE_BAD_OPTION', { ...one, cost: { reserve: 1, settle, reserved: 1 } }],
  ['SLUICE_BAD_OPTION', { ...one, cost: 'one' }],
  ['SLUICE_DUPLICATE_POLICY', { policies: [one, one] }],
  ['SLUICE_BAD_OPTION', { ...one, skip: 'health' }],
  ['SLUICE_BAD_OPTION', { ...one, denied: 'no' }],
  ['SLUICE_BAD_OPTION', { ...one, clock: 'now' }],
  ['SLUICE_BAD_OPTION', { ...one, cost: { reserve: '1', settle } }],
]

const badCaps: readonly (readonly [code: string, options: unknown])[] = [
  ['SLUICE_BAD_OPTION', undefined],
  ['SLUICE_BAD_OPTION', { limit: 1, window: '1m' }],
  ['SLUICE_BAD_OPTION', { limit: 1, next: true }],
  ['SLUICE_BAD_OPTION', { limit: 1, mode: 'on' }],
  ['SLUICE_BAD_OPTION', { limit: 1, status: 302 }],
  ['SLUICE_BAD_OPTION', { limit: 1, holdUntil: 'end' }],
  ['SLUICE_BAD_OPTION', { limit: 1, headers: 'all' }],
  ['SLUICE_BAD_LIMIT', {}],
  ['SLUICE_BAD_LIMIT', { limit: 0 }],
  ['SLUICE_BAD_LIMIT', { limit: 1, weight: 0 }],
  ['SLUICE_BAD_NAME', { limit: 1, name: 'ü' }],
  ['SLUICE_BAD_DURATION', { limit: 1, maxHoldMs: -30 }],
  ['SLUICE_BAD_LIMIT', { limit: 1, weight: '2' }],
  ['SLUICE_BAD_OPTION', { limit: 1, backend: memoryBackend() }],
  ['SLUICE_BAD_OPTION', { limit: 1, key: 'ip' }],
  ['SLUICE_BAD_OPTION', { limit: 1, skip: true }],
  ['SLUICE_BAD_OPTION', { limit: 1, denied: 'no' }],
  ['SLUICE_BAD_OPTION', { limit: 1, clock: 'now' }],
]

describe('a limiter with invalid options is rejected when it is created', () => {
  test.each(badLimits)('with %s: rateLimit %j', (code, options) => {
    expect(codeOf(() => new RateGate(options as never))).toBe(code)
  })

  test.each(badCaps)('with %s: inflightLimit %j', (code, options) => {
    expect(codeOf(() => new InflightGate(options as never))).toBe(code)
  })
})

test('options whose value is undefined are treated as absent', () => {
  const absent = {
    name: undefined,
    key: undefined,
    cost: undefined,
    headers: undefined,
    mode: undefined,
    clock: undefined,
  }
  expect(codeOf(() => new RateGate({ limit: 1, window: '1m', ...absent } as never))).toBe('accepted')
  expect(codeOf(() => new InflightGate({ limit: 1, ...absent, cost: undefined } as never))).toBe('SLUICE_BAD_OPTION')
})

test('one name on one backend with different options is rejected', () => {
  const backend = memoryBackend()
  new RateGate({ limit: 1, window: '1m', backend })
  expect(codeOf(() => new RateGate({ limit: 1, window: '1m', backend }))).toBe('SLUICE_UNNAMED_LIMITER')
  expect(codeOf(() => new RateGate({ limit: 1, window: '1m', backend, shared: true }))).toBe('accepted')
  expect(codeOf(() => new RateGate({ limit: 2, window: '1m', backend }))).toBe('SLUICE_DUPLICATE_POLICY')
  expect(codeOf(() => new RateGate({ limit: 2, window: '1m', backend, scope: 'other' }))).toBe('accepted')
})

test('an unknown SLUICE_MODE is rejected', () => {
  process.env.SLUICE_MODE = 'disabled'
  try {
    expect(codeOf(() => new RateGate({ limit: 1, window: '1m' }))).toBe('SLUICE_BAD_OPTION')
  } finally {
    delete process.env.SLUICE_MODE
  }
})
