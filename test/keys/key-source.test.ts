import { describe, expect, jest, test } from '@jest/globals'
import { byHeader, DENY, EXEMPT, type KeyResult, type KeySource } from '@sluice/limiter-core'
import { ANONYMOUS, addressRules, resolveKey } from '@sluice/limiter-core/http'
import fc from 'fast-check'
import { keyed, viewOf } from './request-view.ts'

const fallback = '\0address:203.0.113.7'

// a source that violates its type, as JavaScript code may
const yields = (value: unknown) => () => value as KeyResult

// a promise of another library
const thenable = (get: () => unknown) => Object.defineProperty({}, 'then', { get })

describe('a key that the source returns', () => {
  test.each<[string, unknown, string]>([
    ['text', 'team-7', 'team-7'],
    ['empty text', '', ''],
    ['a number', 7, '7'],
    ['a fraction', 0.5, '0.5'],
    ['zero', 0, '0'],
    ['a negative number', -1, '-1'],
    ['a bigint', 2n ** 70n, '1180591620717411303424'],
  ])('%s, is its key', (_what, value, key) => {
    expect(keyed(yields(value))).toEqual({ key, reports: [] })
  })

  test('is awaited if it is a promise', async () => {
    const { key, reports } = keyed(async () => 'team-7')
    expect(key).toBeInstanceOf(Promise)
    await expect(key).resolves.toBe('team-7')
    await expect(keyed(yields(thenable(() => (done: (key: string) => void) => done('team-8')))).key).resolves.toBe(
      'team-8',
    )
    await expect(keyed(async () => 7n).key).resolves.toBe('7')
    expect(reports).toEqual([])
  })

  test('is computed from the framework request first and the view second', () => {
    const view = viewOf<string>({ raw: 'the request' })
    const source = jest.fn<KeySource<string>>(() => 'key')
    resolveKey(source, view, () => {})
    expect(source.mock.calls[0].slice(0, 2)).toEqual(['the request', view])
  })

  test.each<[string, typeof EXEMPT | typeof DENY, string]>([
    ['EXEMPT', EXEMPT, 'sluice.exempt'],
    ['DENY', DENY, 'sluice.deny'],
  ])(
    '%s, is kept, direct or as a promise, and is the same symbol in every copy of the package',
    async (_name, symbol, name) => {
      expect(keyed(() => symbol)).toEqual({ key: symbol, reports: [] })
      await expect(keyed(async () => symbol).key).resolves.toBe(symbol)
      expect(symbol).toBe(Symbol.for(name))
    },
  )
})

describe('a source without a key falls back to the address', () => {
  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['ANONYMOUS', ANONYMOUS, 'anonymous'],
    ['null', null, 'not-a-string'],
    ['an object', { id: 7 }, 'not-a-string'],
    ['an object without a prototype', Object.create(null), 'not-a-string'],
    ['a boxed string', Object('team-7'), 'not-a-string'],
    ['an array', ['team-7'], 'not-a-string'],
    ['a function', () => 'team-7', 'not-a-string'],
    ['true', true, 'not-a-string'],
    ['NaN', Number.NaN, 'not-a-string'],
    ['Infinity', Number.POSITIVE_INFINITY, 'not-a-string'],
    ['another symbol', Symbol('sluice.exempt'), 'not-a-string'],
  ])('%s, direct or as a promise', async (_what, value, reason) => {
    expect(keyed(yields(value))).toEqual({ key: fallback, reports: [{ reason }] })
    const promised = keyed(async () => value as KeyResult)
    await expect(promised.key).resolves.toBe(fallback)
    expect(promised.reports).toEqual([{ reason }])
  })

  test.each([[new Error('no user')], ['text'], [undefined], [null]])('one that throws %p', (error) => {
    const { key, reports } = keyed(() => {
      throw error
    })
    expect(key).toBe(fallback)
    expect(reports).toEqual([{ reason: 'threw', error }])
  })

  test.each([[new Error('no session')], ['text'], [undefined]])('one that rejects with %p', async (error) => {
    const { key, reports } = keyed(() => Promise.reject(error))
    await expect(key).resolves.toBe(fallback)
    expect(reports).toEqual([{ reason: 'rejected', error }])
  })

  test('one whose promise cannot be read', async () => {
    const error = new Error('then')
    const thrown = () => {
      throw error
    }
    const getter = keyed(yields(thenable(thrown)))
    expect(getter).toEqual({ key: fallback, reports: [{ reason: 'threw', error }] })
    const thrower = keyed(yields(thenable(() => thrown)))
    await expect(thrower.key).resolves.toBe(fallback)
    expect(thrower.reports).toEqual([{ reason: 'rejected', error }])
  })

  test('truncated by the prefixes that the caller passes', () => {
    const rules = addressRules({ ipv6Prefix: 64 })
    const key = resolveKey(yields(undefined), viewOf({ ip: '2001:DB8:1:2ff::1' }), () => {}, rules)
    expect(key).toBe('\0address:2001:db8:1:2ff::/64')
    expect(keyed(yields(undefined), { ip: '2001:DB8:1:2ff::1' }).key).toBe('\0address:2001:db8:1:200::/56')
  })

  test('which is a single key, and reported, if no address can be read', () => {
    for (const ip of ['not-an-ip:injected|key', '1.2.3.4:99999', undefined, null, 7, {}]) {
      expect(keyed(yields(undefined), { ip: ip ?? null })).toEqual({
        key: '\0address:no-address',
        reports: [{ reason: 'undefined' }, { reason: 'no-address' }],
      })
    }
  })

  test('even if the framework throws when it reads the address', () => {
    const view = Object.defineProperty(viewOf(), 'ip', {
      get() {
        throw new Error('trust function')
      },
    })
    expect(resolveKey(yields(undefined), view, () => {})).toBe('\0address:no-address')
  })

  test('and is counted separately from every key that a client can choose', () => {
    for (const forged of [fallback, '\0address:no-address', '\0', '\0\0address:203.0.113.7', '\0address:']) {
      expect(keyed(yields(forged)).key).toBe(`\0${forged}`)
      expect(keyed(byHeader('x-api-key'), { headers: { 'x-api-key': forged } }).key).toBe(`\0${forged}`)
    }
    const hostile = fc.oneof(
      fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
      fc.string().map((tail) => `\0address:${tail}`),
      fc.ipV4().map((ip) => `\0address:${ip}`),
    )
    fc.assert(
      fc.property(hostile, fc.ipV4(), (value, ip) => {
        const forged = keyed(byHeader('x'), { headers: { x: value } }).key
        if (value !== '') expect(forged).not.toBe(keyed(byHeader('x'), { ip }).key)
      }),
    )
  })
})

describe('hostile keys', () => {
  const megabyte = 'k'.repeat(2 ** 20)
  const hostile = [
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'a\0b',
    'a\r\nX-Injected: 1',
    '\ud800',
    '\udfff',
    '\ufffd',
    'é',
    'e\u0301',
    'K',
    '\u212a',
    'undefined',
    'no-address',
    '203.0.113.7',
    'address:203.0.113.7',
    ' a',
    'a',
    'A',
    megabyte,
    `${megabyte}k`,
  ]

  test('are passed on unchanged', () => {
    for (const key of hostile) expect(keyed(() => key)).toEqual({ key, reports: [] })
  })

  test('and remain distinct, also if they start with NUL', () => {
    const all = [...hostile, ...hostile.map((key) => `\0${key}`), ...hostile.map((key) => `\0\0${key}`), '\0', '\0\0']
    expect(new Set(all.map((key) => keyed(() => key).key)).size).toBe(all.length)
  })
})
