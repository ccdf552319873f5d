import { describe, expect, test } from '@jest/globals'
import { byAll, byHeader, byIp, byPrincipal, byRoute, DENY, EXEMPT, type KeyResult } from '@sluice/limiter-core'
import { addressRules, resolveKey } from '@sluice/limiter-core/http'
import fc from 'fast-check'
import { keyed, viewOf } from './request-view.ts'

const fallback = '\0address:203.0.113.7'
// includes lone surrogates
const codeUnit = fc.nat(0xffff).map((code) => String.fromCharCode(code))

describe('byAll', () => {
  const named = (...keys: readonly string[]) => byAll(...keys.map((key) => () => key))
  const shown = { route: '/a', routeMethod: 'GET', headers: { 'x-api-key': 'k' } }

  test('prefixes each part with its length', () => {
    expect(keyed(named('a:b', 'c'))).toEqual({ key: '3:a:b1:c', reports: [] })
    expect(keyed(named('a', 'b:c')).key).toBe('1:a3:b:c')
    expect(keyed(named('', '')).key).toBe('0:0:')
  })

  test('gives different parts different keys', () => {
    const hostile = fc.oneof(
      fc.string({ unit: codeUnit, maxLength: 6 }),
      fc.string({ unit: fc.constantFrom('1', '2', ':', 'a', '\0', '\ud800'), maxLength: 6 }),
    )
    const parts = fc.array(hostile, { minLength: 2, maxLength: 3 })
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other)
        return (keyed(named(...one)).key === keyed(named(...other)).key) === same
      }),
      { numRuns: 5_000 },
    )
  })

  test('gives different keys to the same text split at different places', () => {
    fc.assert(
      fc.property(fc.string({ unit: codeUnit, minLength: 1 }), fc.nat(), fc.nat(), (text, a, b) => {
        const cut = (at: number) => named(text.slice(0, at % text.length), text.slice(at % text.length))
        expect(keyed(cut(a)).key === keyed(cut(b)).key).toBe(a % text.length === b % text.length)
      }),
    )
  })

  test('is synchronous if its parts are, and returns a promise otherwise', async () => {
    expect(keyed(byAll(byHeader('x-api-key'), byRoute(), byIp()), shown).key).toBe('1:k6:GET /a11:203.0.113.7')
    const later = byAll(
      byHeader('x-api-key'),
      byPrincipal(async () => 7),
    )
    expect(keyed(later, shown).key).toBeInstanceOf(Promise)
    await expect(keyed(later, shown).key).resolves.toBe('1:k1:7')
  })

  test('uses the fallback for a part without a key, and keeps the others', async () => {
    const { key, reports } = keyed(byAll(byHeader('x-api-key'), byRoute()), { route: '/a', routeMethod: 'GET' })
    expect(key).toBe(`${fallback.length}:${fallback}6:GET /a`)
    expect(reports).toEqual([{ reason: 'anonymous' }])
    const rejected = keyed(
      byAll(byRoute(), () => Promise.reject(new Error('gone'))),
      shown,
    )
    await expect(rejected.key).resolves.toBe(`6:GET /a${fallback.length}:${fallback}`)
    expect(rejected.reports).toEqual([{ reason: 'rejected', error: new Error('gone') }])
  })

  test('truncates the fallback address of a part by the prefixes that the caller passes', () => {
    const rules = addressRules({ ipv6Prefix: 64 })
    const view = viewOf({ ip: '2001:db8:1:2ff::1' })
    const address = '\0address:2001:db8:1:2ff::/64'
    expect(resolveKey(byAll(byHeader('x')), view, () => {}, rules)).toBe(`${address.length}:${address}`)
  })

  test("cannot yield another client's key through a forged part", () => {
    const source = byAll(byHeader('x-api-key'), byRoute())
    const forged = keyed(source, { route: '/a', headers: { 'x-api-key': fallback } }).key
    expect(forged).not.toBe(keyed(source, { route: '/a' }).key)
  })

  test.each<[string, KeyResult[], KeyResult]>([
    ['EXEMPT over keys', ['a', EXEMPT, 'b'], EXEMPT],
    ['DENY over keys', ['a', 'b', DENY], DENY],
    ['DENY over EXEMPT before it', [EXEMPT, DENY], DENY],
    ['DENY over EXEMPT after it', [DENY, EXEMPT], DENY],
  ])('%s', async (_claim, results, expected) => {
    expect(keyed(byAll(...results.map((result) => () => result))).key).toBe(expected)
    await expect(keyed(byAll(...results.map((result) => async () => result))).key).resolves.toBe(expected)
  })

  test('may contain another byAll', () => {
    const deep = (a: string, b: string, c: string) =>
      keyed(
        byAll(
          byAll(
            () => a,
            () => b,
          ),
          () => c,
        ),
      ).key
    expect(deep('a', 'b', 'c')).toBe('6:1:a1:b1:c')
    expect(
      keyed(
        byAll(
          () => 'a',
          byAll(
            () => 'b',
            () => 'c',
          ),
        ),
      ).key,
    ).not.toBe(deep('a', 'b', 'c'))
    expect(keyed(byAll(byAll(byHeader('x'))), {}).reports).toEqual([{ reason: 'anonymous' }])
  })

  test('can be called without a reporter', () => {
    expect(byAll(byHeader('x'))(undefined, viewOf())).toBe(`${fallback.length}:${fallback}`)
  })

  test('rejects an empty list of parts, and parts that are not key sources', () => {
    expect(() => byAll()).toThrow('expected at least one key source, received an array of length 0')
    expect(() => byAll('ip' as never)).toThrow('expected key sources such as byIp(), received a string of 2 characters')
  })
})
