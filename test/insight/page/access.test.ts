import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createInsight, dashboard } from '@sluice/insight'
import { FakeClock } from '@sluice/testkit'
import { pageFiles } from '../../../packages/insight/src/page/generated.ts'
import { type Listening, listening } from './open-page.ts'
import { type Asked, ask, cookieOf, logIn } from './page-request.ts'
import { WatchedFleet } from './simulated-fleet.ts'

const token = 'a-token-of-enough-characters'
const forwarded = [
  ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-server', 'x-real-ip'],
  ['cf-connecting-ip', 'cf-connecting-ipv6', 'cf-ray', 'true-client-ip', 'fastly-client-ip', 'fly-client-ip'],
  ['x-azure-clientip', 'x-azure-socketip', 'x-azure-ref', 'x-vercel-forwarded-for', 'x-vercel-id', 'x-client-ip'],
  ['x-cluster-client-ip', 'x-envoy-external-address', 'x-original-forwarded-for', 'x-appengine-user-ip'],
  ['x-nf-client-connection-ip', 'do-connecting-ip', 'x-amzn-trace-id', 'x-amz-cf-id', 'x-cloud-trace-context'],
  ['x-railway-edge', 'rndr-id', 'client-ip', 'x-proxyuser-ip', 'x-remote-addr', 'cdn-loop', 'x-original-host'],
].flat()

describe('the page without a token', () => {
  let served: Listening
  let peer: string | undefined
  const page = dashboard({ insight: new WatchedFleet() })

  beforeAll(async () => {
    served = await listening((req, res) => {
      if (peer !== undefined) Object.defineProperty(req.socket, 'remoteAddress', { value: peer })
      page(req, res)
    })
  })
  afterAll(() => served.stop())

  const status = async (headers: Asked['headers'], path = '/') => (await ask(served.port, path, { headers })).status

  test.each(['localhost', 'LOCALHOST:80', '127.0.0.1:3000', '[::1]:3000', 'app.localhost'])(
    'is open to %s',
    async (host) => {
      expect(await status({ host })).toBe(200)
      expect(await status({ host }, '/stream')).toBe(200)
    },
  )

  test.each(['rebound.example', 'localhost.example', '127.0.0.1.example', '10.0.0.1', '[::2]', 'localhost:3000@x'])(
    'is closed to a host that is not loopback: %j',
    async (host) => {
      for (const path of ['/', '/stream', '/main.js']) expect(await status({ host }, path)).toBe(403)
    },
  )

  test.each(['10.0.0.7', '::ffff:10.0.0.7', '2001:db8::1', '128.0.0.1'])(
    'is closed to the peer %s, even with the host localhost',
    async (from) => {
      peer = from
      expect(await status({}).finally(() => (peer = undefined))).toBe(403)
    },
  )

  test.each(forwarded)('is closed to requests through a proxy: %s', async (name) => {
    expect(await status({ [name]: '127.0.0.1' })).toBe(403)
  })

  test('is closed to pages of other sites', async () => {
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, '/stream')).toBe(403)
    expect(await status({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, '/stream')).toBe(403)
    expect(await status({ origin: 'http://other.example' }, '/stream')).toBe(403)
    expect(await status({ origin: 'null' }, '/stream')).toBe(403)
    // a link from another site is allowed
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(200)
  })

  test('explains the reason, for programs and for browsers', async () => {
    const headers = { host: 'rebound.example' }
    const problem = await ask(served.port, '/', { headers })
    expect(problem.headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(problem.text)).toMatchObject({ type: 'about:blank', status: 403, title: 'Forbidden' })
    const shown = await ask(served.port, '/', { headers: { ...headers, accept: 'text/html' } })
    expect(shown).toMatchObject({ status: 403, text: expect.stringContaining('Access denied') })
  })

  test('has no login', async () => {
    expect((await logIn(served.port, '/', '')).status).toBe(404)
  })

  test.each(['/nothing', '/page.html', '/__proto__', '/constructor', '/stream/x', '//evil.example'])(
    'responds 404 at %s',
    async (path) => {
      expect(await status({}, path)).toBe(404)
    },
  )

  test('is read-only', async () => {
    const answer = await ask(served.port, '/', { method: 'DELETE' })
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  test('sends protective headers with every answer', async () => {
    for (const path of ['/', '/main.js', '/stream', '/nothing', '/?token=x']) {
      const { headers } = await ask(served.port, path)
      expect(headers['cache-control']).toMatch(/^no-store/)
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/)
      expect(headers['content-security-policy']).not.toContain('unsafe')
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
  })
})

describe('the page with a token', () => {
  const clock = new FakeClock()
  let served: Listening
  beforeAll(async () => {
    served = await listening(dashboard({ insight: new WatchedFleet(), token, clock, path: '/limits' }))
  })
  afterAll(() => served.stop())

  const looks = async (headers: Asked['headers'], path = '/limits/') =>
    (await ask(served.port, path, { headers })).status

  test('requires a login, even on the same machine', async () => {
    for (const path of ['/limits/', '/limits/stream', '/limits/main.js']) expect(await looks({}, path)).toBe(401)
    const form = await ask(served.port, '/limits/', { headers: { accept: 'text/html' } })
    expect(form).toMatchObject({ status: 401, text: expect.stringContaining('type="password"') })
    expect(form.text).not.toContain('{message}')
  })

  test('is open after a login from any host, for 12 hours', async () => {
    const answer = await logIn(served.port, '/limits/', token)
    expect(answer).toMatchObject({ status: 303, headers: { location: './' } })
    expect(answer.headers['set-cookie']?.[0]).toMatch(/; Path=\/limits\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
    const cookie = cookieOf(answer)
    expect(await looks({ cookie: `other=1; ${cookie}`, host: 'limits.example', 'x-forwarded-for': '192.0.2.1' })).toBe(
      200,
    )
    clock.advance(12 * 3_600_000 + 1)
    expect(await looks({ cookie })).toBe(401)
  })

  test('sets a secure cookie if the page uses https', async () => {
    const answer = await logIn(served.port, '/limits/', token, { 'x-forwarded-proto': 'https' })
    expect(answer.headers['set-cookie']?.[0]).toContain('; Secure')
  })

  test('rejects a modified cookie', async () => {
    const cookie = cookieOf(await logIn(served.port, '/limits/', token))
    const later = cookie.replace(/=(\d+)/, (_, expiry) => `=${Number(expiry) + 1}`)
    for (const changed of [later, `${cookie}x`, cookie.slice(0, -1), 'sluice_insight=', 'sluice_insight=9e9..']) {
      expect(await looks({ cookie: changed })).toBe(401)
    }
  })

  test('accepts a bearer token', async () => {
    expect(await looks({ authorization: `Bearer ${token}` }, '/limits/stream')).toBe(200)
    expect(await looks({ authorization: `Bearer ${token}x` }, '/limits/stream')).toBe(401)
  })

  test.each(['token', 'access_token'])('rejects a token in the URL, even the right one: %s', async (name) => {
    const answer = await ask(served.port, `/limits/?${name}=${token}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer).toMatchObject({ status: 400, headers: { 'content-type': 'application/problem+json' } })
    expect(answer.text).not.toContain(token)
  })

  test('rejects a login from another site', async () => {
    expect((await logIn(served.port, '/limits/', token, { origin: 'http://other.example' })).status).toBe(403)
  })

  test('rejects a login form that is too large', async () => {
    expect((await logIn(served.port, '/limits/', token.repeat(1_000))).status).toBe(401)
  })

  test('allows ten wrong tokens a minute, even at once, and then rejects the right one too', async () => {
    clock.advance(60_000)
    const wrong = await Promise.all(
      Array.from({ length: 15 }, (_, guess) => logIn(served.port, '/limits/', `guess ${guess}`)),
    )
    expect(wrong.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), ...Array(5).fill(429)])
    expect((await logIn(served.port, '/limits/', token)).status).toBe(429)
    clock.advance(60_000)
    for (let login = 0; login < 12; login++) expect((await logIn(served.port, '/limits/', token)).status).toBe(303)
  })

  test('counts wrong tokens in headers together with wrong logins', async () => {
    clock.advance(60_000)
    const cookie = cookieOf(await logIn(served.port, '/limits/', token))
    const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
    for (let guess = 0; guess < 5; guess++) expect(await looks(bearer(`guess ${guess}`), '/limits/')).toBe(401)
    for (let guess = 0; guess < 5; guess++) expect((await logIn(served.port, '/limits/', 'a guess')).status).toBe(401)
    const refused = await ask(served.port, '/limits/', { headers: bearer(token) })
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^[1-9]\d?$/) } })
    expect((await logIn(served.port, '/limits/', token)).status).toBe(429)
    // a session that exists goes on
    expect(await looks({ cookie }, '/limits/')).toBe(200)
    clock.advance(60_000)
    for (let visit = 0; visit < 30; visit++) expect(await looks(bearer(token), '/limits/')).toBe(200)
  })

  test('ends the session of the browser on logout', async () => {
    const answer = await ask(served.port, '/limits/logout', { method: 'POST' })
    expect(answer).toMatchObject({ status: 303, headers: { 'set-cookie': [expect.stringContaining('Max-Age=0')] } })
  })

  test('redirects a URL without the trailing slash, on the same host', async () => {
    expect(await ask(served.port, '/limits')).toMatchObject({ status: 307, headers: { location: './limits/' } })
    expect((await ask(served.port, '/limitsx')).status).toBe(404)
  })
})

test.each([
  ['no insight', { insight: {} }],
  ['a short token', { insight: createInsight, token: 'short' }],
  ['an empty token', { insight: createInsight, token: '' }],
  ['a path without a leading slash', { insight: createInsight, path: 'limits' }],
  ['an update interval that is too short', { insight: createInsight, updateMs: 249 }],
  ['an unknown option', { insight: createInsight, tokn: token }],
])('%s is rejected', (_, { insight, ...options }) => {
  const source = typeof insight === 'function' ? new WatchedFleet() : insight
  const refused = () => (dashboard as (options: object) => unknown)({ insight: source, ...options })
  expect(refused).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
})

test('a rejected token is not in the error message', () => {
  expect(() => dashboard({ insight: new WatchedFleet(), token: 'hunter2' })).toThrow(/^(?!.*hunter2)/s)
})

test('all files of the page together are at most 100 KiB over the wire', () => {
  const bytes = [...pageFiles.values()].reduce((sum, { text }) => sum + gzipSync(text, { level: 9 }).length, 0)
  process.stdout.write(`the page: ${(bytes / 1024).toFixed(1)} KiB over the wire\n`)
  expect(bytes).toBeLessThanOrEqual(100 * 1024)
})
