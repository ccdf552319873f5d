import { describe, expect, test } from '@jest/globals'
import { createInflightLimiter, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { RateGate } from '@sluice/limiter-core/http'
import { codeOf } from './code-of.ts'

const values: Readonly<Record<string, unknown>> = {
  'a symbol': Symbol('value'),
  'a bigint': 1n,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '2^53': 2 ** 53,
  'minus one': -1,
  'a number as text': '5',
  'an empty text': '',
  'a function': () => 5,
  'a list': [5],
  'a huge list': new Array(1e8),
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

  test.each(['limit', 'window', 'algorithm', 'slices'])('is refused as %s of a policy by a coded error', (option) => {
    expect(codeOf(() => createLimiter({ policies: [{ ...policy, [option]: value }] }))).toEqual(sluiceCode)
  })

  test('is refused as burst by a coded error', () => {
    const policies = [{ ...policy, algorithm: 'gcra', burst: value }] as const
    expect(codeOf(() => createLimiter({ policies }))).toEqual(sluiceCode)
  })

  test('is refused as what is no option at all', () => {
    expect(codeOf(() => createLimiter({ policies: [policy], limti: value } as never))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => new RateGate({ ...policy, limti: value } as never))).toBe('SLUICE_BAD_OPTION')
  })

  test('is refused as maxBytes, and as the limit of a cap', () => {
    // 2^53 bytes are more than anybody has, and no safe integer
    expect(codeOf(() => memoryBackend({ maxBytes: value }))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => createInflightLimiter({ limit: value }))).toBe('SLUICE_BAD_LIMIT')
  })
})

test('frozen options and options without a prototype are options like others', () => {
  const frozen = Object.freeze({ policies: Object.freeze([Object.freeze({ ...policy })]) })
  expect(createLimiter(frozen).take('key').allowed).toBe(true)
  const bare = Object.assign(Object.create(null), { policies: [Object.assign(Object.create(null), policy)] })
  expect(createLimiter(bare).take('key').allowed).toBe(true)
})

test('a getter that throws throws at start-up, and later limiters are as ever', () => {
  const options = {
    get policies(): never {
      throw new Error('getter')
    },
  }
  expect(() => createLimiter(options)).toThrow('getter')
  expect(createLimiter({ policies: [policy] }).take('key').allowed).toBe(true)
})

test('options changed after the start change nothing', () => {
  const input = { limit: 2, window: '1m' as const }
  const limiter = createLimiter({ policies: [input] })
  input.limit = 1_000
  expect([1, 2, 3].map(() => limiter.take('key').allowed)).toEqual([true, true, false])
})

test.each(['OFF', 'enforced', 'true', '1', ' off'])(
  'SLUICE_MODE=%j is refused at start-up, never taken for enforce',
  (mode) => {
    process.env.SLUICE_MODE = mode
    try {
      expect(codeOf(() => createLimiter({ policies: [policy] }))).toBe('SLUICE_BAD_OPTION')
    } finally {
      delete process.env.SLUICE_MODE
    }
  },
)
