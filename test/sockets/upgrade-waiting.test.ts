import { afterEach, describe, expect, test } from '@jest/globals'
import {
  createInflightLimiter,
  type InflightBackend,
  memoryBackend,
  type Permit,
  type UpgradeLimitOptions,
  type UpgradeListener,
} from '@sluice/node-http'
import { failingBackend, until } from '@sluice/testkit'
import { frontBackend } from '../contracts/front-backend.ts'
import { handshake, type SocketClient, UpgradeSite, type UpgradeSiteOptions } from './upgrade-site.ts'

let site: UpgradeSite
/** Resolves each pending key. */
let waiting: (() => void)[] = []

async function siteOf(options: UpgradeLimitOptions, more?: UpgradeSiteOptions): Promise<UpgradeSite> {
  waiting = []
  site = await UpgradeSite.of(options, more)
  return site
}

afterEach(() => site.close())

const slowKey = (): Promise<string> =>
  new Promise((resolve) => {
    waiting.push(() => resolve('one'))
  })

async function asked(times = 1): Promise<void> {
  await until(() => waiting.length >= times, { what: 'a key that is asked for' })
}

const once1m = { limit: 1, window: '1m', key: slowKey } as const

describe.each([
  ['TCP', false],
  ['TLS', true],
])('over %s, while a key or a backend is pending', (_carrier, tls) => {
  test('no byte of the client is lost, with the handshake or later', async () => {
    await siteOf({ rateLimit: once1m }, { tls })
    const client = await site.asking(`${handshake()}with it, `)
    await asked()
    client.send('while it waits, ')
    await until(() => site.sockets[0].listenerCount('readable') === 1, { what: 'the wait' })
    client.send('again, ')
    waiting[0]()
    await client.hears('101 Switching Protocols')
    client.send('and after')
    await client.hears('with it, while it waits, again, and after')
    expect(site.sockets[0].listenerCount('readable')).toBe(0)
  })

  test('a megabyte that arrives early is paused, not buffered in memory, and arrives complete', async () => {
    await siteOf({ rateLimit: once1m }, { tls })
    const client = await site.asking()
    await asked()
    const text = 'abcdefghi\n'.repeat(100_000)
    client.send(text)
    await until(() => (site.sockets[0].readableLength ?? 0) > 0, { what: 'more than is kept' })
    waiting[0]()
    await until(() => client.heard.length >= text.length, { what: 'the megabyte' })
    await until(() => client.heard.endsWith(text), { what: 'all of the megabyte' })
  })

  const departures = [
    ['leaves', (client: SocketClient) => client.leave()],
    ['resets the connection', (client: SocketClient) => client.reset()],
    ['ends its side', (client: SocketClient) => client.socket.end()],
  ] as const

  test.each(departures)('a client that %s is not upgraded, and keeps no permit', async (_how, leave) => {
    await siteOf({ inflightLimit: { limit: 1, key: slowKey } }, { tls })
    const client = await site.asking()
    await asked()
    client.send('a word')
    leave(client)
    await until(() => site.sockets[0].destroyed, { what: 'the end of the socket' })
    waiting[0]()
    await site.allReleased(1)
    const next = await site.asking()
    await asked(2)
    waiting[1]()
    await next.hears('101 Switching Protocols')
    expect(site.upgraded).toHaveLength(1)
  })

  test.each(departures)('a client that %s is not upgraded with only rate limits', async (_how, leave) => {
    await siteOf({ rateLimit: { ...once1m, limit: 9 } }, { tls })
    const client = await site.asking()
    await asked()
    leave(client)
    await until(() => site.sockets[0].destroyed, { what: 'the end of the socket' })
    waiting[0]()
    const next = await site.asking()
    await asked(2)
    waiting[1]()
    await next.hears('101 Switching Protocols')
    expect(site.upgraded).toHaveLength(1)
  })

  test('a client that disconnects is refunded only according to settleOn, not as a completed upgrade', async () => {
    const settled: boolean[] = []
    const settle = (_req: unknown, _res: unknown, { completed }: { completed: boolean }): number => {
      settled.push(completed)
      return 0
    }
    await siteOf({ rateLimit: { ...once1m, cost: { reserve: 1, settle, settleOn: 'always' } } }, { tls })
    const client = await site.asking()
    await asked()
    client.leave()
    await until(() => site.sockets[0].destroyed, { what: 'the end of the socket' })
    waiting[0]()
    await until(() => settled.length === 1, { what: 'the settling of the cost' })
    expect(settled).toEqual([false])
  })

  test('an asynchronous denial is sent', async () => {
    await siteOf({ rateLimit: once1m }, { tls })
    const first = await site.asking()
    const second = await site.asking()
    await asked(2)
    waiting[0]()
    await first.hears('101 Switching Protocols')
    waiting[1]()
    await second.closed()
    expect(second.heard).toMatch(/^HTTP\/1.1 429[\s\S]*Quota Exceeded/)
  })
})

test('a client that ends its side later still receives the final data of the server', async () => {
  const lastWord: UpgradeListener = (_req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    socket.resume().on('end', () => setImmediate(() => socket.end('last word')))
  }
  await siteOf({ rateLimit: once1m }, { upgrade: lastWord })
  const client = await site.asking()
  client.socket.allowHalfOpen = true
  await asked()
  waiting[0]()
  await client.hears('101 Switching Protocols')
  client.socket.end()
  await client.hears('last word')
})

describe('a backend', () => {
  test('of rates may return promises', async () => {
    const backend = frontBackend('slow', memoryBackend(), async (ask) => ask())
    await siteOf({ rateLimit: { limit: 1, window: '1m', backend } })
    await site.open()
    expect(await site.answer()).toMatch(/^HTTP\/1.1 429/)
  })

  test('of caps may return promises, and a permit granted after the client has disconnected is released', async () => {
    const places = createInflightLimiter({ limit: 1 })
    const due: (() => void)[] = []
    const backend: InflightBackend = {
      acquire: () =>
        new Promise((resolve) => {
          due.push(() => resolve((places.acquire() as Permit | undefined) ?? { allowed: false, retryAfterMs: 1_000 }))
        }),
    }
    await siteOf({ inflightLimit: { limit: 1, backend } })
    const client = await site.asking()
    await until(() => due.length === 1, { what: 'an acquire' })
    client.reset()
    await until(() => site.sockets[0].destroyed, { what: 'the end of the socket' })
    due[0]()
    await until(() => site.watcher.acquired === 1 && places.count() === 0, { what: 'the place to come back' })
    expect(site.upgraded).toEqual([])
  })

  test('that fails causes upgrades to be limited in this process', async () => {
    const dead = (): Promise<never> => Promise.reject(new Error('nobody is there'))
    await siteOf({
      rateLimit: { limit: 1, window: '1m', backend: failingBackend(dead) },
      inflightLimit: { limit: 9, backend: { acquire: dead } },
    })
    await site.open()
    expect(await site.answer()).toMatch(/^HTTP\/1.1 429/)
    expect(site.watcher.count('backendFailed')).toBe(1)
  })
})
