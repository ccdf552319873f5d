import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { endedAfterEach } from '../services/for-tests.ts'
import { SlowedServer } from './slowed-server.ts'

const open = endedAfterEach<SlowedServer>((site) => site.close())

async function slowed(...args: Parameters<typeof SlowedServer.of>): Promise<SlowedServer> {
  const site = await SlowedServer.of(...args)
  open.push(site)
  return site
}

/** Waits until pending callbacks have run. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

describe('a request that waits', () => {
  test('ends its wait when the client disconnects: no timer, queue slot or handler is left', async () => {
    const site = await slowed()
    const client = await site.waitingFor('/')
    client.leave()
    await site.waits(0)
    site.clock.advance(1_000)
    await quiet()
    expect(site.handled).toEqual([])
  })

  test('ends its wait when the client closes its half of the connection, because Node then ends it', async () => {
    const site = await slowed()
    const client = await site.waitingFor('/half')
    client.socket.end()
    await site.waits(0)
    site.clock.advance(1_000)
    await quiet()
    expect(site.handled).toEqual([])
  })

  test.each<[string, (site: SlowedServer) => void]>([
    ['has ended', (site) => site.responses[0].end('elsewhere')],
    [
      'is ending as the wait ends',
      (site) => {
        site.responses[0].end('elsewhere')
        site.clock.advance(100)
      },
    ],
  ])('does not reach its handler if other code has responded, which %s', async (_what, answer) => {
    const site = await slowed()
    const client = await site.waitingFor('/')
    answer(site)
    await client.hears('elsewhere')
    await site.waits(0)
    site.clock.advance(1_000)
    await quiet()
    expect(site.handled).toEqual([])
  })

  test('ends its wait when the server closes all connections', async () => {
    const site = await slowed()
    await site.waitingFor('/a', '/b')
    site.server.closeAllConnections()
    await site.waits(0)
    expect(site.handled).toEqual([])
  })

  test('is answered before a closing server is closed', async () => {
    const site = await slowed()
    const client = await site.waitingFor('/last')
    const closed = once(site.server, 'close')
    site.server.close()
    site.clock.advance(100)
    await client.hears('/last')
    client.leave()
    await closed
    expect(site.clock.pending).toBe(0)
  })

  test('continues at once when the limiter is closed, like all later requests', async () => {
    const site = await slowed()
    const client = await site.waitingFor('/a', '/b')
    site.limit.close()
    site.limit.close()
    await client.hears('/b')
    client.send('GET /c HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.hears('/c')
    expect(site.handled).toEqual(['/a', '/b', '/c'])
    await site.waits(0)
  })

  test('keeps its whole body, although it is not read during the wait', async () => {
    const site = await slowed({}, (req, res) => {
      let bytes = 0
      req.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      req.once('end', () => res.end(`${bytes} bytes`))
    })
    const client = await site.client()
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`)
    await site.waits(1)
    site.clock.advance(100)
    await client.hears('1000000 bytes')
  })

  test('leaves its connection usable for later requests', async () => {
    const site = await slowed()
    const client = await site.waitingFor('/a')
    site.clock.advance(100)
    await client.hears('/a')
    client.send('GET /b HTTP/1.1\r\nHost: a\r\n\r\n')
    await site.waits(1)
    site.clock.advance(100)
    await client.hears('/b')
    expect(site.handled).toEqual(['/a', '/b'])
  })

  test('waits equally long next to others on one connection, and responses keep their order', async () => {
    const site = await slowed({ delayMs: (over) => [300, 100, 200][over - 1] ?? 50, maxDelayMs: 400 })
    const client = await site.waitingFor('/a', '/b', '/c')
    site.clock.advance(200)
    await until(() => site.handled.length === 2)
    expect([site.handled, client.heard]).toEqual([['/b', '/c'], ''])
    site.clock.advance(100)
    await client.hears('/c')
    expect(client.heard.match(/\/[abc]$|\/[abc](?=HTTP)/g)).toEqual(['/a', '/b', '/c'])
  })

  test('ends together with other waiting requests when its connection closes', async () => {
    const site = await slowed()
    const client = await site.waitingFor('/a', '/b', '/c')
    const other = await site.waitingFor('/d')
    client.leave()
    await site.waits(1)
    site.clock.advance(100)
    await other.hears('/d')
    expect(site.handled).toEqual(['/d'])
  })

  test('keeps the async context of its request', async () => {
    const storage = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const site = await slowed({}, (_req, res) => {
      seen.push(storage.getStore())
      res.end('done')
    })
    const [listener] = site.server.listeners('request') as ((...args: unknown[]) => void)[]
    site.server.removeAllListeners('request')
    site.server.on('request', (req, res) => storage.run(String(req.url), () => listener(req, res)))
    const client = await site.waitingFor('/a', '/b')
    site.clock.advance(100)
    await client.hears('done', 2)
    expect(seen).toEqual(['/a', '/b'])
  })
})

describe('the queue of waiting requests', () => {
  test('holds `maxWaiting` requests; one more is denied with its wait in whole seconds', async () => {
    const site = await slowed({ maxWaiting: 2, delayMs: 1_500, maxDelayMs: '1h' })
    await site.waitingFor('/a', '/b')
    const client = await site.client()
    client.send('HEAD /c HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.hears('\r\n\r\n')
    expect(client.heard).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\nRetry-After: 5\r\n/)
    expect(client.heard).toMatch(/\r\n\r\n$/)
    expect(site.limit.waiting()).toBe(2)
  })

  test('is not used by requests within the limit', async () => {
    const key = ({ headers }: { headers: Record<string, unknown> }): string => String(headers.host)
    const site = await slowed({ maxWaiting: 1, after: 1, key: key as never })
    const busy = await site.client()
    busy.send('GET /a HTTP/1.1\r\nHost: busy\r\n\r\nGET /b HTTP/1.1\r\nHost: busy\r\n\r\n')
    await site.waits(1)
    const calm = await site.client()
    calm.send('GET /c HTTP/1.1\r\nHost: calm\r\n\r\n')
    await calm.hears('/c')
    expect(site.handled).toEqual(['/a', '/c'])
  })

  test('does not charge denied requests: a client denied a hundred times waits no longer', async () => {
    const site = await slowed({ maxWaiting: 1, delayMs: 100, maxDelayMs: 10_000 })
    await site.waitingFor('/a')
    const client = await site.client()
    client.send('GET /denied HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100))
    await client.hears('HTTP/1.1 429', 100)
    site.clock.advance(100)
    await until(() => site.handled.length === 1)
    await site.waitingFor('/b')
    site.clock.advance(199)
    expect(site.limit.waiting()).toBe(1)
    site.clock.advance(1)
    await until(() => site.handled.length === 2)
  })

  test('uses the `denied` option for its denials, without a decision', async () => {
    const told: unknown[] = []
    const site = await slowed({
      maxWaiting: 1,
      status: 503,
      denied: (_req, res, { denial, decision }) => {
        told.push([denial.status, denial.retryAfterSeconds, decision])
        res.end('come back')
      },
    })
    await site.waitingFor('/a')
    const client = await site.client()
    client.send('GET /b HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.hears('come back')
    expect([client.heard.slice(9, 12), told]).toEqual(['503', [[503, 1, undefined]]])
  })

  const REQUESTS = 10_000
  const CONNECTIONS = 20
  test(`needs one timer per request for ${REQUESTS} requests on ${CONNECTIONS} connections, and no further socket listener`, async () => {
    const site = await slowed({ maxWaiting: REQUESTS })
    const sockets: Socket[] = []
    site.server.on('connection', (socket) => sockets.push(socket))
    const paths = Array<string>(REQUESTS / CONNECTIONS).fill('/')
    const few = await site.waitingFor('/')
    const listeners = (): number => Math.max(...sockets.map((socket) => socket.listenerCount('close')))
    const atFirst = listeners()
    few.leave()
    await site.waits(0)
    const clients = []
    for (let one = 0; one < CONNECTIONS; one++) clients.push(await site.waitingFor(...paths))
    expect([site.limit.waiting(), listeners()]).toEqual([REQUESTS, atFirst])
    for (const client of clients) client.leave()
    await site.waits(0)
    expect(site.handled).toEqual([])
  })
})
