import { describe, expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createInflightLimiter, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { codeOf } from '../code-of.ts'

const values: Readonly<Record<string, unknown>> = {
  'a symbol': Symbol('value'),
  'a bigint': 1n,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '2^53': 2 ** 53,
  'minus one': -1,
  'a number as a string': '5',
  'an empty string': '',
  'a function': () => 5,
  'a list': [5],
  'a huge array': new Array(1e8),
  'an object without a prototype': Object.create(null),
  'a date': new Date(0),
  'a proxy that throws': new Proxy(
    {},
    {
      get() {
        throw new Error('trap')
      },
    },
  ),
}
const sluiceCode = expect.stringMatching(/^SLUICE_BAD_/)
const policy = { limit: 5, window: '1m' } as const

describe.each(Object.keys(values))('%s', (name) => {
  const value = values[name] as never

  test.each(['limit', 'window', 'algorithm', 'slices'])(
    'is rejected as %s of a policy with a coded error',
    (option) => {
      expect(codeOf(() => createLimiter({ policies: [{ ...policy, [option]: value }] }))).toEqual(sluiceCode)
    },
  )

  test('is rejected as burst with a coded error', () => {
    const policies = [{ ...policy, algorithm: 'gcra', burst: value }] as const
    expect(codeOf(() => createLimiter({ policies }))).toEqual(sluiceCode)
  })

  test('is rejected as an unknown option', () => {
    expect(codeOf(() => createLimiter({ policies: [policy], limti: value } as never))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => new RateGate({ ...policy, limti: value } as never))).toBe('SLUICE_BAD_OPTION')
  })

  test('is rejected as maxBytes, and as the limit of a cap', () => {
    // 2^53 is not a safe integer
    expect(codeOf(() => memoryBackend({ maxBytes: value }))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => createInflightLimiter({ limit: value }))).toBe('SLUICE_BAD_LIMIT')
  })
})

test('frozen options and options without a prototype are accepted', () => {
  const frozen = Object.freeze({ policies: Object.freeze([Object.freeze({ ...policy })]) })
  expect(createLimiter(frozen).take('key').allowed).toBe(true)
  const bare = Object.assign(Object.create(null), { policies: [Object.assign(Object.create(null), policy)] })
  expect(createLimiter(bare).take('key').allowed).toBe(true)
})

test('a getter that throws does so at start-up, and later limiters are unaffected', () => {
  const options = {
    get policies(): never {
      throw new Error('getter')
    },
  }
  expect(() => createLimiter(options)).toThrow('getter')
  expect(createLimiter({ policies: [policy] }).take('key').allowed).toBe(true)
})

test('changing an options object after start-up has no effect', () => {
  const input = { limit: 2, window: '1m' as const }
  const limiter = createLimiter({ policies: [input] })
  input.limit = 1_000
  expect([1, 2, 3].map(() => limiter.take('key').allowed)).toEqual([true, true, false])
})

test.each(['OFF', 'enforced', 'true', '1', ' off'])(
  'SLUICE_MODE=%j is rejected at start-up, and not treated as enforce',
  (mode) => {
    process.env.SLUICE_MODE = mode
    try {
      expect(codeOf(() => createLimiter({ policies: [policy] }))).toBe('SLUICE_BAD_OPTION')
    } finally {
      delete process.env.SLUICE_MODE
    }
  },
)
