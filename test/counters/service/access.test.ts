import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, test } from '@jest/globals'
import { type CounterScope, counterService, createCounters } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { ServiceSite } from './service-site.ts'

const READER = 'reader-1'
const WRITER = 'writer-1'
const ADMIN = 'admin-1=='
const tokens: { token: string; scopes: CounterScope[] }[] = [
  { token: READER, scopes: ['counters:read'] },
  { token: WRITER, scopes: ['counters:write'] },
  { token: ADMIN, scopes: ['counters:admin'] },
]
const routes: readonly (readonly [method: string, path: string, token: string, status: number])[] = [
  ['GET', '/counters', READER, 200],
  ['GET', '/counters/a', READER, 200],
  ['GET', '/counters/a*/aggregate', READER, 200],
  ['POST', '/counters/a/increment', WRITER, 200],
  ['POST', '/counters/flush', WRITER, 204],
  ['DELETE', '/counters/a', ADMIN, 204],
  ['POST', '/counters/a/reset', ADMIN, 204],
  ['GET', '/metrics', ADMIN, 200],
]

async function onSite(
  options: Parameters<typeof ServiceSite.start>[0],
  run: (site: ServiceSite) => Promise<void>,
): Promise<void> {
  const site = await ServiceSite.start(options)
  try {
    await run(site)
  } finally {
    await site.stop()
  }
}

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })

describe('with tokens', () => {
  test.each(routes)(
    '%s %s requires the scope of the route, and rejects every other scope',
    (method, path, token, status) =>
      onSite({ tokens }, async (site) => {
        expect((await site.ask(method, path, bearer(token))).status).toBe(status)
        for (const { token: other } of tokens.filter((one) => one.token !== token)) {
          const refused = await site.ask(method, path, bearer(other))
          expect([refused.status, refused.json.code]).toEqual([403, 'scope-missing'])
          expect(refused.headers['www-authenticate']).toMatch(
            /^Bearer error="insufficient_scope", scope="counters:\w+"$/,
          )
        }
        const missing = await site.ask(method, path)
        expect([missing.status, missing.headers['www-authenticate']]).toEqual([401, 'Bearer'])
      }),
  )

  test.each(['Bearer reader-2', 'Bearer', 'Bearer reader-1 x', 'Basic reader-1', 'Bearer reader', 'Bearer reader-1='])(
    'rejects an invalid authorization: %s',
    (authorization) =>
      onSite({ tokens }, async (site) => {
        const answer = await site.ask('GET', '/counters/a', { headers: { Authorization: authorization } })
        expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])
      }),
  )

  test('health and the document are public, and an empty list of tokens admits no other requests', () =>
    onSite({ tokens: [] }, async (site) => {
      expect((await site.ask('GET', '/healthz')).status).toBe(200)
      expect((await site.ask('GET', '/openapi.json')).status).toBe(200)
      expect((await site.ask('GET', '/counters')).status).toBe(401)
    }))

  test('the scheme is case-insensitive', () =>
    onSite({ tokens }, async (site) => {
      expect((await site.ask('GET', '/counters', { headers: { authorization: `bEARER  ${READER}` } })).status).toBe(200)
    }))
})

describe('without tokens', () => {
  test.each([
    ['was forwarded by a proxy', { 'X-Forwarded-For': '203.0.113.9' }],
    ['was forwarded by a proxy with the standard header', { Forwarded: 'for=203.0.113.9' }],
    ['was sent by a web page', { Origin: 'http://evil.example' }],
    ['has a foreign host name', { Host: 'evil.example' }],
  ])('a request is not treated as local if it %s', (_, headers) =>
    onSite({}, async (site) => {
      expect((await site.ask('GET', '/counters')).status).toBe(200)
      for (const path of ['/counters', '/healthz', '/nowhere']) {
        const refused = await site.ask('GET', path, { headers })
        expect([refused.status, refused.json.code]).toEqual([403, 'not-local'])
      }
    }),
  )

  // a machine may have no other address
  const [address] = Object.values(networkInterfaces()).flatMap((all) => all?.filter(({ internal }) => !internal) ?? [])
  const testElsewhere = address ? test : test.skip
  testElsewhere('a connection to another address is rejected, whatever its Host header', async () => {
    const counters = createCounters()
    const server = createServer(counterService({ counters }))
    await new Promise<void>((resolve) => server.listen(0, address.address, resolve))
    const { port } = server.address() as AddressInfo
    const status = await new Promise((resolve, reject) => {
      const sent = request({ host: address.address, port, path: '/healthz', headers: { Host: 'localhost' } })
      sent.on('response', (res) => resolve(res.resume().statusCode)).on('error', reject)
      sent.end()
    })
    expect(status).toBe(403)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await counters.close()
  })

  test('an open service answers every client', () =>
    onSite({ open: true }, async (site) => {
      const headers = { 'X-Forwarded-For': '203.0.113.9', Host: 'counters.example' }
      expect((await site.ask('DELETE', '/counters/a', { headers })).status).toBe(204)
    }))
})

describe('limits', () => {
  test('a limiter counts each token and each address, and a denied request changes no counters', async () => {
    const clock = new FakeClock()
    const limiter = createLimiter({ policies: [{ name: 'api', limit: 2, window: '1m' }], clock })
    await onSite({ tokens, limits: { limiter } }, async (site) => {
      const increment = () => site.ask('POST', '/counters/a/increment', bearer(WRITER))
      expect((await increment()).headers.ratelimit).toMatch(/^"api";r=1;t=\d+$/)
      expect((await increment()).headers['ratelimit-policy']).toBe('"api";q=2;w=60')
      const denied = await increment()
      expect([denied.status, denied.json.code]).toEqual([429, 'SLUICE_DENIED'])
      expect(denied.json['violated-policies']).toEqual(['api'])
      expect(Number(denied.headers['retry-after'])).toBeGreaterThan(0)
      expect((await site.counters.read('a')).value).toBe(2)
      expect((await site.ask('GET', '/counters/a', bearer(READER))).json.value).toBe(2)
      expect((await site.ask('GET', '/counters/a', bearer('guess-1'))).status).toBe(401)
      expect((await site.ask('GET', '/counters/a', bearer('guess-2'))).status).toBe(401)
      expect((await site.ask('GET', '/counters/a', bearer('guess-3'))).status).toBe(429)
      expect((await site.ask('GET', '/healthz')).status).toBe(200)
    })
    await limiter.close()
  })

  test('a request above maxInflight is rejected until another request has finished', async () => {
    const counters = createCounters()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let entered = (): void => {}
    const isHeld = new Promise<void>((resolve) => {
      entered = resolve
    })
    const flush = counters.flush.bind(counters)
    counters.flush = async () => {
      entered()
      await held
      await flush()
    }
    await onSite({ counters, limits: { maxInflight: 1 } }, async (site) => {
      const first = site.ask('POST', '/counters/flush')
      await isHeld
      const second = await site.ask('GET', '/counters/a')
      expect([second.status, second.json.code, second.headers['retry-after']]).toEqual([503, 'SLUICE_DENIED', '1'])
      expect((await site.ask('GET', '/healthz')).status).toBe(200)
      release()
      expect((await first).status).toBe(204)
      expect((await site.ask('GET', '/counters/a')).status).toBe(200)
    })
  })
})

describe('counterService rejects bad options', () => {
  const counters = createCounters()
  test.each<readonly [string, object]>([
    ['no counters', {}],
    ['invalid counters', { counters: {} }],
    ['an unknown option', { counters, token: 'a' }],
    ['tokens that are not a list', { counters, tokens: 'a' }],
    ['a token with a space', { counters, tokens: [{ token: 'a b', scopes: [] }] }],
    ['a token without scopes', { counters, tokens: [{ token: 'a' }] }],
    ['an unknown scope', { counters, tokens: [{ token: 'a', scopes: ['admin'] }] }],
    ['open that is not a boolean', { counters, open: 1 }],
    ['open together with tokens', { counters, open: true, tokens: [] }],
    ['an invalid limiter', { counters, limits: { limiter: {} } }],
    ['maxInflight of 0', { counters, limits: { maxInflight: 0 } }],
    ['invalid metrics', { counters, metrics: [{}] }],
  ])('%s', (_, options) => {
    const build = () => counterService(options as { counters: typeof counters })
    expect(build).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
    expect(build).not.toThrow(/a b/)
  })
})
