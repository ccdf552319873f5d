import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from '@jest/globals'
import { byHeader, byIp, limitUpgrade, type UpgradeLimitOptions } from '@sluice/node-http'
import { FakeClock, until, Watcher } from '@sluice/testkit'
import { handshake, UpgradeSite, type UpgradeSiteOptions } from './upgrade-site.ts'

let site: UpgradeSite

async function siteOf(options: UpgradeLimitOptions, more?: UpgradeSiteOptions): Promise<UpgradeSite> {
  site = await UpgradeSite.of(options, more)
  return site
}

afterEach(() => site.close())

const once1m = { limit: 1, window: '1m', algorithm: 'fixed-window' } as const

/** Head and body of a response, lines sorted, without the date. */
function parsed(answer: string): { status: string; headers: Record<string, string>; body: string } {
  const [head, body] = answer.split('\r\n\r\n')
  const [status, ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/).slice(0, 2)))
  delete headers.Date
  return { status, headers, body }
}

describe('a denied upgrade', () => {
  test('is answered 429 with the same bytes as a request, and its connection is closed', async () => {
    const clock = new FakeClock()
    await siteOf({ rateLimit: { ...once1m, clock } })
    await site.open()
    clock.advance(55_000)
    const { status, headers, body } = parsed(await site.answer())
    expect(status).toBe('HTTP/1.1 429 Too Many Requests')
    expect(headers).toEqual({
      'Retry-After': '5',
      'RateLimit-Policy': '"default";q=1;w=60',
      RateLimit: '"default";r=0;t=5',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/problem+json',
      'Content-Length': '143',
      Connection: 'close',
    })
    expect(body).toBe(
      '{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota Exceeded","status":429,"violated-policies":["default"]}',
    )
    clock.advance(5_000)
    await site.open()
  })

  test('is answered 503 by a process-wide cap, and 429 by a per-client cap with that status', async () => {
    await siteOf({ inflightLimit: { limit: 1 } })
    await site.open()
    const busy = parsed(await site.answer())
    expect(busy.status).toBe('HTTP/1.1 503 Service Unavailable')
    expect(busy.headers).toMatchObject({ 'Retry-After': '1', RateLimit: '"inflight";r=0', 'Content-Length': '168' })
    await site.close()
    await siteOf({ inflightLimit: { name: 'sockets', limit: 1, key: byIp(), status: 429 } })
    await site.open()
    expect(parsed(await site.answer()).status).toBe('HTTP/1.1 429 Too Many Requests')
  })

  test('is also answered over TLS, where permits are held as well', async () => {
    await siteOf({ inflightLimit: { limit: 1 } }, { tls: true })
    const open = await site.open()
    expect(parsed(await site.answer()).body).toHaveLength(168)
    open.leave()
    await site.allReleased(1)
    await site.open()
  })

  test('is answered by `denied`, with CORS headers for other origins', async () => {
    await siteOf({
      rateLimit: { ...once1m, denied: (_req, res, { denial }) => res.end(`wait ${denial.retryAfterSeconds} s`) },
    })
    await site.open()
    const { headers, body } = parsed(await site.answer(handshake({ Origin: 'https://b' })))
    expect(body).toMatch(/wait 60 s/)
    expect(headers['Access-Control-Expose-Headers']).toBe('RateLimit, RateLimit-Policy, Retry-After')
  })

  test('waits for an asynchronous custom response', async () => {
    const denied = async (_req: unknown, res: ServerResponse): Promise<void> => {
      await new Promise(setImmediate)
      res.end('later')
    }
    await siteOf({ rateLimit: { ...once1m, denied } })
    await site.open()
    expect(await site.answer()).toMatch(/429[\s\S]*later/)
  })

  test('does not reach the listener, and leaves no open socket even if the client keeps its side open', async () => {
    await siteOf({ rateLimit: once1m })
    const first = await site.open()
    const client = await site.asking()
    client.socket.allowHalfOpen = true
    await until(() => site.sockets.length === 2 && site.sockets[1].closed, { what: 'the end of the denied socket' })
    expect(site.upgraded).toHaveLength(1)
    first.leave()
  })

  test('closes even if the client never stops sending', async () => {
    await siteOf({ rateLimit: once1m })
    await site.open()
    const client = await site.asking(handshake({ 'Content-Length': '1000000' }, 'POST'))
    const flood = setInterval(() => client.send(Buffer.alloc(16_384)), 1)
    await until(() => site.sockets[1]?.closed, { what: 'the end of the denied socket' })
    clearInterval(flood)
    await client.closed()
  })
})

describe('load shedding of upgrades', () => {
  test('refuses the least important before the other limits, which neither count nor hold them', async () => {
    const watcher = new Watcher()
    await siteOf({
      shed: { eventLoopDelayMs: false, health: () => 0.4, priority: { header: 'x-priority' } },
      rateLimit: { limit: 5, window: '1m', observers: [watcher] },
      inflightLimit: { limit: 1 },
    })
    const refused = parsed(await site.answer())
    expect(refused.status).toBe('HTTP/1.1 503 Service Unavailable')
    expect(refused.body).toMatch('"violated-policies":["shed"]')
    expect(refused.headers).toMatchObject({ 'Retry-After': expect.stringMatching(/^[1-5]$/), Connection: 'close' })
    expect([watcher.decisions.length, site.watcher.acquired, site.limit.shedder?.pressure]).toEqual([0, 0, 0.6])
    await site.open(handshake({ 'X-Priority': 'critical' }))
    expect([watcher.decisions.length, site.watcher.acquired]).toEqual([1, 1])
  })

  test('works without other limits, and stops when it is closed', async () => {
    const clock = new FakeClock()
    await siteOf({ shed: { eventLoopDelayMs: false, health: () => false, clock } })
    expect(await site.answer()).toMatch(/^HTTP\/1.1 503/)
    expect(clock.pending).toBe(1)
    site.limit.close()
    await site.open()
    expect(clock.pending).toBe(0)
  })
})

describe('admitted upgrades', () => {
  test('reach the listener with the bytes that followed the handshake', async () => {
    await siteOf({ rateLimit: once1m, inflightLimit: { limit: 1 } })
    const client = await site.open(`${handshake()}head `)
    client.send('and tail')
    await client.hears('head and tail')
  })

  test('give the listener the decision, and let it settle the cost when the socket closes', async () => {
    const settled: boolean[] = []
    const settle = (_req: unknown, _res: unknown, { completed }: { completed: boolean }): number => {
      settled.push(completed)
      return 0
    }
    await siteOf({ rateLimit: { limit: 2, window: '1m', key: () => 'all', cost: { reserve: 1, settle } } })
    const client = await site.open()
    expect(site.upgraded[0].sluice?.decision?.binding.remaining).toBe(1)
    client.socket.end()
    await until(() => settled.length === 1, { what: 'the settling of the cost' })
    const decision = await site.limit.limiter?.peek('all')
    expect([settled, decision?.binding.remaining]).toEqual([[true], 2])
  })

  test('are counted by a header or by a function of the request', async () => {
    await siteOf({ rateLimit: { ...once1m, key: byHeader('x-api-key') } })
    await site.open(handshake({ 'X-Api-Key': 'a' }))
    await site.open(handshake({ 'X-Api-Key': 'b' }))
    expect(await site.answer(handshake({ 'X-Api-Key': 'a' }))).toMatch(/^HTTP\/1.1 429/)
    await site.close()
    await siteOf({ inflightLimit: { limit: 1, key: (req) => req.url } })
    await site.open()
    expect(await site.answer()).toMatch(/^HTTP\/1.1 503/)
  })

  test('hold a permit of a process-wide and a per-client cap, and release both if one is full', async () => {
    const perUser = { name: 'user', limit: 1, key: byHeader('x-user'), status: 429 }
    await siteOf({ inflightLimit: [{ name: 'all', limit: 2 }, perUser] })
    const ada = await site.open(handshake({ 'X-User': 'ada' }))
    expect(await site.answer(handshake({ 'X-User': 'ada' }))).toMatch(/429[\s\S]*"violated-policies":\["user"\]/)
    await until(() => site.limit.caps[0].count() === 1, { what: 'the place in the cap that was not full' })
    const bob = await site.open(handshake({ 'X-User': 'bob' }))
    expect(await site.answer(handshake({ 'X-User': 'cyd' }))).toMatch(/503[\s\S]*"violated-policies":\["all"\]/)
    ada.leave()
    bob.leave()
    await site.allReleased(5)
  })

  test('may pass a second limitUpgrade after the first one', async () => {
    const inner = limitUpgrade({ rateLimit: { ...once1m, name: 'inner' } }, (_req, socket) => socket.end('through'))
    await siteOf({ rateLimit: { limit: 5, window: '1m', name: 'outer' } }, { upgrade: inner })
    expect(await site.answer()).toBe('through')
    const { headers } = parsed(await site.answer())
    expect(headers['RateLimit-Policy']).toBe('"outer";q=5;w=60, "inner";q=1;w=60')
    expect(headers.RateLimit).toMatch(/^"inner";r=0;t=\d+$/)
    inner.close()
  })
})

describe('modes', () => {
  test('shadow counts and notifies observers without denying; off does not count', async () => {
    const watcher = new Watcher()
    const rateLimit = { ...once1m, mode: 'shadow', observers: [watcher] } as const
    await siteOf({ rateLimit, inflightLimit: { limit: 1, mode: 'shadow' } })
    await site.open()
    await site.open()
    expect([watcher.decisions.length, site.watcher.acquired, site.watcher.denied]).toEqual([2, 1, 1])
    await site.close()
    await siteOf({ rateLimit: { ...once1m, mode: 'off' }, inflightLimit: { limit: 1, mode: 'off' } })
    await site.open()
    await site.open()
    expect(site.watcher.acquired + site.watcher.denied).toBe(0)
  })
})

describe('unusual handshakes', () => {
  const odd = [
    ['invalid text in Upgrade', handshake({ Upgrade: '\t"junk"/9, \\,;h2c' })],
    ['15 KB of Upgrade', handshake({ Upgrade: 'x'.repeat(15_000) })],
    ['h2c', handshake({ Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAARAAAAAAAIAAAAA' })],
    ['a POST with a body', `${handshake({ 'Content-Length': '4' }, 'POST')}body`],
    ['HTTP/1.0', handshake().replace('HTTP/1.1', 'HTTP/1.0')],
    ['two Upgrade headers', handshake({ Upgrade: 'a\r\nUpgrade: b' })],
  ] as const

  test.each(odd)('are counted like any other: %s', async (_what, text) => {
    await siteOf({ rateLimit: once1m, inflightLimit: { limit: 9 } })
    const client = await site.open(text)
    expect(await site.answer(text)).toMatch(/^HTTP\/1.1 429 Too Many Requests\r\n/)
    client.leave()
    await site.allReleased(1)
  })
})

describe('pipelining', () => {
  test('never sends a denial in place of the response to an earlier request', async () => {
    const pending: ServerResponse[] = []
    await siteOf({ rateLimit: once1m }, { request: (_req, res) => void pending.push(res) })
    await site.open()
    const client = await site.asking(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${handshake()}`)
    await until(() => pending.length === 1, { what: 'the request before' })
    pending[0].end('slow')
    await client.closed()
    expect(client.heard).toMatch(/^HTTP\/1.1 200 OK[\s\S]*slow/)
    expect(client.heard.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 429'])
  })

  test('keeps no permit if the client disconnects before that response', async () => {
    let pending = 0
    await siteOf({ rateLimit: once1m, inflightLimit: { limit: 9 } }, { request: () => void pending++ })
    const open = await site.open()
    const client = await site.asking(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${handshake()}`)
    await until(() => pending === 1, { what: 'the request before' })
    client.reset()
    open.leave()
    await site.allReleased(1)
  })
})
