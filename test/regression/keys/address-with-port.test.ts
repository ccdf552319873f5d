import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { InflightGate, type RateCheck, RateGate } from '@sluice/http'
import { byAll, byHeader, byIp, byPrincipal, type RequestView } from '@sluice/limiter-core'
import { addressKey, addressRules } from '@sluice/limiter-core/http'
import { Warnings } from '@sluice/testkit'
import express from 'express'
import { viewOf } from '../../keys/request-view.ts'

const warnings = new Warnings()

beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

const PROXY = '192.0.2.1'
const RATE = { limit: 9, window: '1m' } as const

function behindProxy(ip: unknown, headers: Readonly<Record<string, string>> = {}): RequestView {
  return { ...viewOf({ ip, headers }), peer: PROXY }
}

function keyOf(guard: RateGate<unknown, unknown>, view: RequestView): string | undefined {
  return (guard.check(view) as RateCheck<unknown, unknown>).keys[0]
}

describe('behind a proxy that adds ports, like Azure', () => {
  test.each([
    ['198.51.100.7:5678', '198.51.100.7'],
    ['198.51.100.7:0', '198.51.100.7'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1::/56'],
    ['[2001:db8:1:2::9]', '2001:db8:1::/56'],
    ['[::ffff:198.51.100.7]:65535', '198.51.100.7'],
    ['[fe80::1%eth0]:80', 'fe80::1'],
  ])('%s is the client %s, without a warning', (ip, key) => {
    expect(keyOf(new RateGate(RATE), behindProxy(ip))).toBe(key)
    expect(warnings.codes).toEqual([])
  })

  test('two clients of Express are two clients', async () => {
    const app = express()
    app.set('trust proxy', 'loopback')
    app.use(rateLimit({ limit: 1, window: '1m' }))
    app.get('/', (_req, res) => {
      res.send('ok')
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const ask = async (client: string): Promise<number> => {
      const { port } = server.address() as AddressInfo
      return (await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-forwarded-for': client } })).status
    }
    const statuses = [await ask('198.51.100.7:1'), await ask('198.51.100.8:1'), await ask('198.51.100.7:2')]
    expect(statuses).toEqual([200, 200, 429])
    server.close()
  })

  test.each([
    '198.51.100.7:',
    '198.51.100.7:65536',
    '198.51.100.7:080000',
    '198.51.100.07:80',
    '198.51.100.7:80:80',
    '[198.51.100.7]:80',
    '[2001:db8::1',
    '[2001:db8::1]80',
    '2001:db8::1]:80',
    '[[2001:db8::1]]:80',
    ' 198.51.100.7:80',
    'unknown',
    '_hidden',
    '',
    `[${'1'.repeat(10_000)}]:80`,
  ])('%j is not an address: the peer of the socket is counted, and the limiter warns once', (ip) => {
    const guard = new RateGate({ ...RATE, name: 'api' })
    expect([keyOf(guard, behindProxy(ip)), keyOf(guard, behindProxy(ip))]).toEqual([PROXY, PROXY])
    expect(warnings.codes).toEqual(['SLUICE_BAD_ADDRESS'])
    expect(warnings.texts[0]).toContain("limiter 'api'")
    expect(warnings.texts[0]).not.toContain('198.51')
  })
})

describe('each limiter warns about addresses once', () => {
  const whole = viewOf({ ip: '2001:db8::1', raw: { ip: '2001:db8::1' } })
  const raw = (request: unknown): string => (request as { ip: string }).ip

  test.each<[string, object, RequestView, string]>([
    ['an invalid address', {}, behindProxy('junk'), 'SLUICE_BAD_ADDRESS'],
    [
      'an unused Forwarded header',
      {},
      behindProxy(PROXY, { forwarded: 'for=198.51.100.7' }),
      'SLUICE_FORWARDED_IGNORED',
    ],
    ['a key that is a full IPv6 address', { key: raw }, whole, 'SLUICE_FULL_ADDRESS_KEY'],
    ['an asynchronous key', { key: async (request: unknown) => raw(request) }, whole, 'SLUICE_FULL_ADDRESS_KEY'],
    ['a key of an authenticated user', { key: byPrincipal(raw) }, whole, 'SLUICE_FULL_ADDRESS_KEY'],
    [
      'a key of a header',
      { key: byHeader('cf-connecting-ip') },
      viewOf({ headers: { 'cf-connecting-ip': '2001:DB8:0::1' } }),
      'SLUICE_FULL_ADDRESS_KEY',
    ],
  ])('%s', async (_what, options, view, code) => {
    const guards = [
      new RateGate({ ...RATE, name: 'first', ...options }),
      new RateGate({ ...RATE, name: 'second', ...options }),
      new InflightGate({ limit: 9, name: 'third', key: byIp(), ...options }),
    ]
    for (const guard of [...guards, ...guards]) await guard.check(view)
    expect(warnings.codes).toEqual([code, code, code])
    expect(warnings.texts.map((text) => /limiter '(\w+)'/.exec(text)?.[1])).toEqual(['first', 'second', 'third'])
  })

  test.each<[string, object, RequestView]>([
    ['byIp with a full-length prefix, as configured by the user', { key: byIp({ ipv6Prefix: 128 }) }, whole],
    ['byIp in a composed key', { key: byAll(byIp(), byHeader('x-api-key')) }, whole],
    ['a plain IPv4 address', { key: () => '198.51.100.7' }, viewOf()],
    ['an IPv4-mapped address', { key: () => '::ffff:198.51.100.7' }, viewOf()],
    ['this machine', { key: () => '::1' }, viewOf()],
    ['a prefix', { key: () => '2001:db8::/56' }, viewOf()],
    ['a key with colons', { key: () => 'team:7:abc' }, viewOf()],
    ['Forwarded next to an address that was read', {}, behindProxy('198.51.100.7', { forwarded: 'for=198.51.100.7' })],
    ['Forwarded if the key is not the address', { key: () => 'me' }, behindProxy(PROXY, { forwarded: 'for=_x' })],
  ])('and never about %s', async (_what, options, view) => {
    await new RateGate({ ...RATE, ...options }).check(view)
    expect(warnings.codes).toEqual([])
  })
})

test('IPv4-compatible addresses count as separate addresses', () => {
  const rules = addressRules()
  const keys = ['::198.51.100.7', '::198.51.100.8', '::c633:6407', '::1', '::', '::2'].map((text) =>
    addressKey(text, rules),
  )
  expect(keys).toEqual(['::c633:6407', '::c633:6408', '::c633:6407', '::1', '::', '::2'])
  expect(addressKey('::198.51.100.7', addressRules({ embeddedIPv4Prefixes: ['::/96'] }))).toBe('198.51.100.7')
})
