import { expect, test } from '@jest/globals'
import { byAll, byHeader, byIp, byPrincipal, type KeySource, rateLimit } from '@sluice/express'
import { createLimiter } from '@sluice/limiter-core'
import { resolveKey } from '@sluice/limiter-core/http'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import express, { type Request } from 'express'
import request from 'supertest'
import { viewOf } from '../../keys/request-view.ts'

test('another endpoint resets the count of a client and an account', async () => {
  const key = byAll(
    byIp(),
    byPrincipal((req: Request) => req.get('x-email')),
  )
  const logins = rateLimit({ name: 'login', limit: 1, window: '1h', key, clock: new FakeClock() })
  const app = express()
  app.get('/login', logins, (_req, res) => {
    res.send('in')
  })
  app.post('/unlock/:address/:email', async (req, res) => {
    await logins.limiter.reset(key.keyOf(req.params.address, req.params.email))
    res.send('unlocked')
  })
  const login = async (email: string): Promise<number> =>
    (await request(app).get('/login').set('x-email', email)).status
  expect([await login('ada'), await login('ada'), await login('eve'), await login('eve')]).toEqual([200, 429, 200, 429])
  await request(app).post('/unlock/::ffff:127.0.0.1/ada').expect(200)
  expect([await login('eve'), await login('ada'), await login('ada')]).toEqual([429, 200, 429])
})

const ADDRESSES = [
  '203.0.113.7',
  '203.0.113.7:5678',
  '::ffff:203.0.113.7',
  '2001:db8:1:2::3',
  '[2001:db8::1]:80',
  'none',
]
const VALUES = [
  'a',
  '',
  '1:a',
  '\0',
  '\0address:127.0.0.1',
  '2001:db8::1',
  '\ud800',
  'é',
  0,
  -1.5,
  7n,
  2 ** 53,
] as const

/** A source, and the value that it has for requests. */
function anySource(random: SeededRandom): readonly [KeySource<object>, string | number | bigint] {
  const address = random.pick(ADDRESSES)
  const value = random.pick(VALUES)
  return random.pick([
    () => [byIp<object>({ ipv6Prefix: random.pick([48, 56, 64, 128]) }), address] as const,
    () => [byPrincipal<object>(() => value), value] as const,
    () => [() => value, value] as const,
    () => [async () => value, value] as const,
    () => [byHeader<object>('x-key'), 'of the header'] as const,
    () => {
      const inner = byAll<object>(
        () => 'inner',
        () => value,
      )
      return [inner, inner.keyOf('inner', value)] as const
    },
  ])()
}

test('the computed key is the key that a limiter counts', () =>
  eachSeed(300, async (random) => {
    const parts = Array.from({ length: 1 + random.whole(3) }, () => anySource(random))
    const key = byAll(...parts.map(([source]) => source))
    const addresses = parts.filter(([source]) => source.addressRules).map(([, address]) => String(address))
    // all sources read the same request
    if (new Set(addresses).size > 1) return
    const view = viewOf<object>({ ip: addresses[0] ?? '192.0.2.1', headers: { 'x-key': 'of the header' } })
    expect(key.keyOf(...parts.map(([, value]) => value))).toBe(await resolveKey(key, view, () => {}))
  }))

test('a computed key needs a value for each source', () => {
  const key = byAll(byIp(), byHeader('x-key'))
  const rejected: readonly (readonly unknown[])[] = [
    [],
    ['192.0.2.1'],
    ['192.0.2.1', 'a', 'b'],
    ['192.0.2.1', undefined],
    [1, {}],
  ]
  for (const values of rejected)
    expect(() => key.keyOf(...(values as string[]))).toThrow(/^SLUICE_BAD_KEY: keyOf: expected 2 /)
  const limiter = createLimiter({ limit: 1, window: '1m' })
  expect(limiter.take(key.keyOf('192.0.2.1', 'a')).allowed).toBe(true)
})
