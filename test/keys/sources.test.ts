import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { byAll, byHeader, byIp, byPrincipal, byRoute, DENY, EXEMPT, type KeySource } from '@sluice/limiter-core'
import { resetWarnings } from '@sluice/limiter-core/backend'
import { labelOf } from '@sluice/limiter-core/http'
import { keyed } from './request-view.ts'

interface User {
  readonly id?: string | number | bigint | null
}
interface AppRequest {
  readonly user?: User
}

// checked by tsc
const typed: readonly KeySource<AppRequest>[] = [
  byIp(),
  byPrincipal((request) => request.user?.id),
  byAll(
    byHeader('x-api-key'),
    byPrincipal((request: AppRequest) => request.user?.id),
  ),
  (request) => request.user?.id ?? EXEMPT,
  async (_request, view) => view.header('x-api-key'),
  // @ts-expect-error null is not a key: return undefined, or use byPrincipal
  (request) => request.user?.id,
]

const fallback = '\0address:203.0.113.7'
const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})

beforeEach(() => {
  resetWarnings()
  warned.mockClear()
})

describe('byIp', () => {
  test('is the plain canonical address, without the prefix of a fallback', () => {
    expect(keyed(byIp(), { ip: '::FFFF:203.0.113.7' })).toEqual({ key: '203.0.113.7', reports: [] })
    expect(keyed(byIp(), { ip: '2001:DB8:1:2ff::1' }).key).toBe('2001:db8:1:200::/56')
  })

  test('uses its own prefixes', () => {
    expect(keyed(byIp({ ipv6Prefix: 64 }), { ip: '2001:DB8:1:2ff::1' }).key).toBe('2001:db8:1:2ff::/64')
    const translated = byIp({ embeddedIPv4Prefixes: ['64:ff9b:1::/96'] })
    expect(keyed(translated, { ip: '64:ff9b:1::203.0.113.7' }).key).toBe('203.0.113.7')
  })

  test.each([['not-an-ip:injected|key'], ['1.2.3.4:99999'], ['[2001:db8::1'], [''], [null]])(
    'counts %p in the shared bucket of requests without an address',
    (ip) => {
      expect(keyed(byIp(), { ip })).toEqual({ key: 'no-address', reports: [{ reason: 'no-address' }] })
    },
  )
})

describe('byHeader', () => {
  const headers = { 'x-api-key': 'k-1' }

  test('is the value of the header, whatever the case of its name', () => {
    expect(keyed(byHeader('X-API-Key'), { headers })).toEqual({ key: 'k-1', reports: [] })
  })

  test.each<[string, Record<string, string | string[]>]>([
    ['never', {}],
    ['empty', { 'x-api-key': '' }],
    ['twice', { 'x-api-key': ['k-1', 'junk'] }],
  ])('without a value, because the header came %s, follows `missing`', (_how, headers) => {
    const reports = [{ reason: 'anonymous' }]
    expect(keyed(byHeader('x-api-key'), { headers })).toEqual({ key: fallback, reports })
    expect(keyed(byHeader('x-api-key', { missing: 'address' }), { headers })).toEqual({ key: fallback, reports })
    expect(keyed(byHeader('x-api-key', { missing: 'deny' }), { headers })).toEqual({ key: DENY, reports: [] })
    expect(keyed(byHeader('x-api-key', { missing: 'exempt' }), { headers })).toEqual({ key: EXEMPT, reports: [] })
  })

  test.each([['x_y'], ['a'], ["!#$%&'*+-.^_`|~09azAZ"]])('accepts the token %s', (name) => {
    expect(() => byHeader(name)).not.toThrow()
  })

  test.each([[''], ['x api'], ['x:'], ['x\r\ny'], ['ключ'], ['x\n'], [7], [undefined]])(
    'rejects the name %p',
    (name) => {
      expect(() => byHeader(name as string)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
    },
  )

  test.each<[unknown, string]>([
    [{ missing: 'skip' }, "expected 'address', 'deny' or 'exempt', received \"skip\""],
    [{ missing: 'toString' }, 'received "toString"'],
    [{ missing: null }, 'received null'],
    [{ mising: 'deny' }, 'expected missing, received an unknown option "mising"'],
    ['deny', 'expected an object of options, received a string of 4 characters'],
    [null, 'received null'],
  ])('rejects the options %j', (options, message) => {
    expect(() => byHeader('x-api-key', options as never)).toThrow(message)
  })
})

describe('byPrincipal', () => {
  const byUser = byPrincipal((request: AppRequest) => request.user?.id)

  test.each<[User['id'], string]>([
    ['u-7', 'u-7'],
    [7, '7'],
    [0, '0'],
    [7n, '7'],
    ['', ''],
  ])('of user %p is %j', (id, key) => {
    expect(keyed(byUser, { raw: { user: { id } } })).toEqual({ key, reports: [] })
  })

  test.each([[undefined], [null]])('counts an anonymous client, %p, by address without a warning', async (id) => {
    const reports = [{ reason: 'anonymous' }]
    expect(keyed(byUser, { raw: { user: { id } } })).toEqual({ key: fallback, reports })
    const later = keyed(byPrincipal(async () => id))
    await expect(later.key).resolves.toBe(fallback)
    expect(later.reports).toEqual(reports)
    expect(warned).not.toHaveBeenCalled()
  })

  test('that throws or rejects is reported with that reason', async () => {
    const { key, reports } = keyed(byUser, { raw: null })
    expect(key).toBe(fallback)
    expect(reports).toEqual([{ reason: 'threw', error: expect.any(TypeError) }])
    const error = new Error('no session')
    const rejected = keyed(byPrincipal(() => Promise.reject(error)))
    await expect(rejected.key).resolves.toBe(fallback)
    expect(rejected.reports).toEqual([{ reason: 'rejected', error }])
  })

  test('with an id that is not a string, as some databases have, is reported', () => {
    const { key, reports } = keyed(byPrincipal(() => ({ oid: 1 }) as never))
    expect(key).toBe(fallback)
    expect(reports).toEqual([{ reason: 'not-a-string' }])
  })

  test('may exempt, and cannot be forged', () => {
    expect(keyed(byPrincipal(() => EXEMPT)).key).toBe(EXEMPT)
    expect(keyed(byPrincipal(() => fallback)).key).toBe(`\0${fallback}`)
  })

  test('rejects a value that is not a function', () => {
    expect(() => byPrincipal('id' as never)).toThrow(
      'expected a function of the request, received a string of 2 characters',
    )
  })
})

describe('byRoute', () => {
  test('is the method and the pattern with which the route was declared', () => {
    expect(keyed(byRoute(), { method: 'PATCH', route: '/v1/items/:id', routeMethod: 'POST' })).toEqual({
      key: 'POST /v1/items/:id',
      reports: [],
    })
  })

  test('is one value, whatever the request method, if the pattern or its method is unknown', () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PROPFIND', 'JUNK']) {
      expect(keyed(byRoute(), { method, routeMethod: 'GET' }).key).toBe('(no route)')
      expect(keyed(byRoute(), { method, route: '/a' }).key).toBe('* /a')
    }
  })
})

describe('the type of a source', () => {
  test("accepts sources of the framework's request, and sources that do not use it", () => {
    const shown = { raw: { user: { id: 7 } }, headers: { 'x-api-key': 'k' } }
    expect(typed.slice(0, 4).map((source) => keyed(source, shown).key)).toEqual(['203.0.113.7', '7', '1:k1:7', '7'])
  })
})

describe('the label of a source', () => {
  test('describes in logs what it reads', () => {
    const all = byAll(byIp(), byHeader('X-Api-Key'), byPrincipal(teamOf), byRoute(), teamOf, () => 'a')
    expect(all.label).toBe('ip + header x-api-key + principal + route + teamOf + own function')
    expect(labelOf(teamOf)).toBe('teamOf')
  })
})

function teamOf(): string {
  return 'team-7'
}
