import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { type Counters, counterClient, counterService, createCounters } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock, hostileKeys } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { ServiceSite } from './service-site.ts'

const sites = endedAfterEach<ServiceSite>((site) => site.stop())

/** Starts a local service. `before` receives each request first, and returns true if it has answered the request. */
async function startSite(
  before: (req: IncomingMessage, res: ServerResponse) => boolean = () => false,
  options: Omit<Parameters<typeof counterService>[0], 'counters'> = {},
): Promise<ServiceSite> {
  const counters = createCounters()
  const service = counterService({ ...options, counters })
  const listener: RequestListener = (req, res) => {
    if (!before(req, res)) void service(req, res)
  }
  const site = await ServiceSite.around(createServer(listener), counters)
  sites.push(site)
  return site
}

/**
 * Loses the answers to the first requests with this method: the requests are processed, but the client receives no
 * answer.
 */
function losing(method: string, times: number, seen: string[] = []) {
  let left = times
  return (req: IncomingMessage, res: ServerResponse): boolean => {
    seen.push(`${req.method} ${req.headers['idempotency-key'] ?? ''}`)
    if (req.method === method && left-- > 0) res.writeHead = () => res.destroy() as ServerResponse
    return false
  }
}

describe('a counter client', () => {
  test('keeps hostile ids apart, if a URL can contain them', async () => {
    const { url, counters: own } = await startSite()
    const counters = counterClient({ url })
    const ids = hostileKeys.filter((id) => id !== '' && Buffer.byteLength(id) <= 256 && !/^[\ud800-\udfff]+$/.test(id))
    ids.push('😀', 'a/b', '%2F', '...', '*', 'a*', '?', '#', '+', 'a b', '\\', 'batch', 'flush', 'x'.repeat(256))
    const distinct = [...new Set(ids)]
    for (const [index, id] of distinct.entries()) await counters.increment(id, index + 1)
    for (const [index, id] of distinct.entries()) {
      expect([id, (await counters.read(id)).value, (await own.read(id)).value]).toEqual([id, index + 1, index + 1])
      expect([id, await counters.aggregate(id)]).toEqual([id, await own.aggregate(id)])
    }
    expect(await counters.readMany('')).toEqual(await own.readMany(''))
    expect((await counters.incrementMany(distinct.map((id) => [id, 1] as const))).values.size).toBe(distinct.length)
    for (const id of distinct) await counters.delete(id)
    expect(await own.readMany('')).toEqual([])
  })

  test('rejects ids and tokens that a URL or a header cannot contain, and counts nothing', async () => {
    const { url, counters: own } = await startSite()
    const counters = counterClient({ url })
    for (const id of ['.', '..', '\ud800', 'a\udc00']) {
      const refused = { code: 'SLUICE_BAD_COUNTER_ID' }
      await expect(counters.increment(id)).rejects.toMatchObject(refused)
      await expect(
        counters.incrementMany([
          ['a', 1],
          [id, 1],
        ]),
      ).rejects.toMatchObject(refused)
      await expect(counters.delete(id)).rejects.toMatchObject(refused)
    }
    await expect(counters.increment('a', 1, { token: '\ud800' })).rejects.toMatchObject({ code: 'SLUICE_BAD_TOKEN' })
    const large = Array.from({ length: 4_000 }, (_, index) => [`a counter with a name ${index}`, 1] as const)
    await expect(counters.incrementMany(large)).rejects.toMatchObject({ code: 'SLUICE_BAD_DELTA' })
    expect(await own.readMany('')).toEqual([])
  })

  test('repeats an increment with one token, so that it counts once', async () => {
    const seen: string[] = []
    const { url, counters: own } = await startSite(losing('POST', 2, seen))
    expect(await counterClient({ url }).increment('a', 5)).toMatchObject({ value: 5, counted: true })
    expect([seen.length, new Set(seen).size]).toEqual([3, 1])
    expect((await own.read('a')).value).toBe(5)
  })

  test('does not repeat an increment without a token, nor a deletion', async () => {
    const seen: string[] = []
    const { url, counters: own } = await startSite(losing('POST', 1, seen))
    const unanswered = { code: 'SLUICE_COUNTERS_UNAVAILABLE' }
    const counters = counterClient({ url, retries: 0 })
    await expect(counters.increment('a', 5)).rejects.toMatchObject(unanswered)
    expect([seen, (await own.read('a')).value]).toEqual([['POST '], 5])
    const deletions: string[] = []
    const other = await startSite(losing('DELETE', 1, deletions))
    await expect(counterClient({ url: other.url }).delete('a')).rejects.toMatchObject(unanswered)
    expect(deletions).toEqual(['DELETE '])
  })

  test('repeats reads, and fails after its retries', async () => {
    const one = await startSite(losing('GET', 2))
    expect((await counterClient({ url: one.url }).read('a')).value).toBe(0)
    const other = await startSite(losing('GET', 3))
    await expect(counterClient({ url: other.url }).read('a')).rejects.toMatchObject({
      code: 'SLUICE_COUNTERS_UNAVAILABLE',
    })
  })

  test('waits for Retry-After if its own deadline allows it', async () => {
    const clock = new FakeClock()
    const limiter = createLimiter({
      policies: [{ name: 'api', limit: 1, window: '4s', algorithm: 'fixed-window' }],
      clock,
    })
    const { url } = await startSite(undefined, { limits: { limiter } })
    const counters = counterClient({ url, clock })
    await counters.read('a')
    const waiting = counters.read('a')
    // timers of the call and of its pause
    await eventually(async () => clock.pending === 2, { what: 'the pause of a client' })
    clock.advance(4_000)
    expect((await waiting).value).toBe(0)
    const impatient = counterClient({ url, clock, waitMs: 3_000 })
    await expect(impatient.read('a')).rejects.toMatchObject({ code: 'SLUICE_DENIED' })
    expect(clock.pending).toBe(0)
    await limiter.close()
  })

  test('waits until the date of Retry-After', async () => {
    const clock = new FakeClock()
    let isFirst = true
    const { url } = await startSite((_req, res) => {
      if (!isFirst) return false
      isFirst = false
      res.writeHead(503, { 'retry-after': new Date(clock.wall() + 4_000).toUTCString() }).end()
      return true
    })
    const waiting = counterClient({ url, clock }).read('a')
    await eventually(async () => clock.pending === 2, { what: 'the pause of a client' })
    clock.advance(3_999)
    expect(clock.pending).toBe(2)
    clock.advance(1)
    expect((await waiting).value).toBe(0)
  })

  test('fails after its deadline if the service does not answer', async () => {
    const clock = new FakeClock()
    let asked = false
    const { url } = await startSite(() => {
      asked = true
      return true
    })
    const reading = counterClient({ url, clock, waitMs: 1_000 }).read('a')
    await eventually(async () => asked, { what: 'the request' })
    clock.advance(1_000)
    await expect(reading).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
  })

  test('is rejected without the right token, and does not reveal tokens in errors', async () => {
    const tokens = [{ token: 'reader-1', scopes: ['counters:read' as const] }]
    const { url } = await startSite(undefined, { tokens })
    expect((await counterClient({ url, token: 'reader-1' }).read('a')).value).toBe(0)
    for (const call of [(c: Counters) => c.increment('a'), (c: Counters) => c.reset('a')]) {
      const error = await call(counterClient({ url, token: 'reader-1' })).catch((caught: unknown) => caught)
      expect(error).toMatchObject({ code: 'SLUICE_BAD_OPTION', message: expect.not.stringContaining('reader-1') })
    }
    await expect(counterClient({ url }).read('a')).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  })

  test.each([
    ['no JSON', 200, '<html>'],
    ['no object', 200, '1'],
    ['another object', 200, '{"status":"ok"}'],
    ['the answer of a gateway', 404, 'not here'],
    ['the answer of a crashed server', 500, '{"code":7}'],
  ])('does not accept %s as the answer of a service', async (_, status, body) => {
    const { url } = await startSite((_req, res) => {
      res.writeHead(status).end(body)
      return true
    })
    const counters = counterClient({ url })
    const unanswered = { code: 'SLUICE_COUNTERS_UNAVAILABLE' }
    await expect(counters.increment('a')).rejects.toMatchObject(unanswered)
    await expect(counters.read('a')).rejects.toMatchObject(unanswered)
    await expect(counters.readMany('a')).rejects.toMatchObject(unanswered)
    await expect(counters.aggregate('a')).rejects.toMatchObject(unanswered)
  })

  test('does not follow redirects, so that its token is not sent elsewhere', async () => {
    const elsewhere: string[] = []
    const other = await startSite(losing('GET', 0, elsewhere))
    const { url } = await startSite((_req, res) => {
      res.writeHead(307, { Location: `${other.url}/counters/a` }).end()
      return true
    })
    await expect(counterClient({ url, token: 'a', retries: 0 }).read('a')).rejects.toMatchObject({
      code: 'SLUICE_COUNTERS_UNAVAILABLE',
    })
    expect(elsewhere).toEqual([])
  })

  test('flushes only its own counts on close', async () => {
    const seen: string[] = []
    const { url } = await startSite(losing('GET', 0, seen))
    const reader = counterClient({ url, retries: 0 })
    await reader.read('a')
    await reader.close()
    const writer = counterClient({ url, retries: 0 })
    await writer.increment('a')
    await writer.close()
    expect(seen).toEqual(['GET ', 'POST ', 'POST '])
  })

  test.each<readonly [string, object]>([
    ['no address', {}],
    ['an invalid address', { url: 'localhost' }],
    ['a file address', { url: 'file:///tmp' }],
    ['an address with a password', { url: 'http://user:secret@localhost' }],
    ['an address with a query', { url: 'http://localhost/?a=1' }],
    ['a token with a line break', { url: 'http://localhost', token: 'secret\r\n' }],
    ['an invalid fetch', { url: 'http://localhost', fetch: 'fetch' }],
    ['a negative number of retries', { url: 'http://localhost', retries: -1 }],
    ['an unknown option', { url: 'http://localhost', timeout: 1 }],
  ])('rejects %s', (_, options) => {
    const build = () => counterClient(options as { url: string })
    expect(build).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
    expect(build).not.toThrow(/secret/)
  })
})
