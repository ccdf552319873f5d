import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createNetServer, type Server, Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { byIp, type ConnectionLimitOptions, createInflightLimiter, limitConnections } from '@sluice/node-http'
import { until, Warnings, Watcher } from '@sluice/testkit'
import { RawClient } from '../leaks/raw-client.ts'
import { tlsClient, tlsServer } from './tls-without-certificates.ts'

const warnings = new Warnings()
let watcher: Watcher
let server: Server
const clients: RawClient[] = []

beforeEach(() => {
  warnings.listen()
  watcher = new Watcher()
})
afterEach(async () => {
  warnings.stop()
  for (const client of clients.splice(0)) client.leave()
  server.close()
  await once(server, 'close')
  expect(watcher.fewestHeld).toBe(0)
})

async function limited(to: Server, options: ConnectionLimitOptions) {
  server = to
  const limit = limitConnections(server, { observers: [watcher], ...options })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return limit
}

function port(): number {
  return (server.address() as AddressInfo).port
}

async function arrived(from = '127.0.0.1'): Promise<RawClient> {
  const socket = connect({ port: port(), host: '127.0.0.1', localAddress: from })
  const client = new RawClient(socket)
  clients.push(client)
  const before = watcher.acquired + watcher.denied
  await until(() => watcher.acquired + watcher.denied > before || socket.closed, { what: 'the server to look' })
  return client
}

const servers: readonly (readonly [string, () => Server])[] = [
  ['net', plainServer],
  ['tls', () => createTlsServer(tlsServer).on('tlsClientError', () => {})],
  ['http', () => createServer((_req, res) => res.end('ok'))],
  ['https', () => createHttpsServer(tlsServer, (_req, res) => res.end('ok'))],
  ['http2', () => createHttp2Server()],
]

describe.each(servers)('the connections of a server of node:%s', (_kind, make) => {
  test('are capped, and each releases its permit once', async () => {
    const limit = await limited(make(), { limit: 2 })
    const first = await arrived()
    const second = await arrived()
    const third = await arrived()
    await third.closed()
    expect([limit.limiter.count(), watcher.denied, third.heard]).toEqual([2, 1, ''])
    first.leave()
    second.socket.resetAndDestroy()
    await until(() => watcher.held === 0, { what: 'both places to come back' })
    const fourth = await arrived()
    expect([limit.limiter.count(), fourth.socket.closed, watcher.released]).toEqual([1, false, 2])
    fourth.leave()
    await until(() => watcher.released === 3, { what: 'the last place to come back' })
    expect(limit.limiter.count()).toBe(0)
  })
})

describe('the traffic of an admitted connection', () => {
  test('is untouched: TLS', async () => {
    await limited(
      createTlsServer(tlsServer, (socket) => socket.end('hello')),
      { limit: 1 },
    )
    const client = new RawClient(connectTls({ ...tlsClient, port: port() }))
    await client.closed()
    expect(client.heard).toBe('hello')
    await until(() => watcher.released === 1, { what: 'the place to come back' })
  })

  test('is untouched: requests on one connection, however many', async () => {
    const http = createServer((_req, res) => res.end('ok'))
    const limit = await limited(http, { limit: 1 })
    const client = await arrived()
    for (let times = 1; times <= 100; times++) {
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      await client.hears('HTTP/1.1 200 OK', times)
    }
    expect([limit.limiter.count(), watcher.acquired]).toEqual([1, 1])
    http.closeAllConnections()
    await until(() => watcher.held === 0, { what: 'the place to come back' })
  })

  test('is untouched: HTTP/2', async () => {
    await limited(
      createHttp2Server((_req, res) => res.end('ok')),
      { limit: 1 },
    )
    const session = connectHttp2(`http://127.0.0.1:${port()}`)
    const stream = session.request()
    expect((await once(stream, 'response'))[0][':status']).toBe(200)
    stream.resume()
    session.close()
    await until(() => watcher.released === 1, { what: 'the place to come back' })
  })
})

describe('keys', () => {
  test('byIp() gives each client address its own count', async () => {
    const limit = await limited(plainServer(), { limit: 1, key: byIp() })
    await arrived('127.0.0.1')
    await (await arrived('127.0.0.1')).closed()
    expect((await arrived('127.0.0.2')).socket.closed).toBe(false)
    expect([limit.limiter.count('127.0.0.1'), limit.limiter.count('127.0.0.2')]).toEqual([1, 1])
  })

  const spellings = [
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:DB8:1:2ff::1', '2001:db8:1:200::/56'],
    ['2001:db8:1:2aa:9:9:9:9', '2001:db8:1:200::/56'],
    ['fe80::1%eth0', 'fe80::1'],
  ] as const

  test.each(spellings)('%s is counted as %s', async (address, key) => {
    const limit = await limited(plainServer(), { limit: 1, key: byIp() })
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address })
    server.emit('connection', socket)
    expect(limit.limiter.count(key)).toBe(1)
    socket.destroy()
    await until(() => limit.limiter.count(key) === 0, { what: 'the place to come back' })
  })

  test('a key function receives the socket; if it fails, the address is counted', async () => {
    const key = (socket: Socket): string | undefined => (socket.localPort === port() ? 'here' : 'elsewhere')
    const limit = await limited(plainServer(), { limit: 1, key })
    await arrived()
    expect(limit.limiter.count('here')).toBe(1)
    server.close()
    const failing = await limited(plainServer(), { limit: 1, key: () => undefined })
    await arrived()
    await (await arrived()).closed()
    expect([watcher.count('keyFallback'), failing.limiter.count('here')]).toEqual([2, 0])
    expect(warnings.codes).toEqual(['SLUICE_KEY_FALLBACK'])
  })

  test('and permits may be granted asynchronously: a connection closed in the meantime keeps no permit', async () => {
    const places = createInflightLimiter({ limit: 1 })
    const due: (() => void)[] = []
    const acquire = async () => {
      await new Promise<void>((resolve) => due.push(resolve))
      return places.acquire() ?? ({ allowed: false, retryAfterMs: 1_000 } as const)
    }
    await limited(plainServer(), { limit: 1, backend: { acquire } })
    let open = 1
    const ended = (): boolean => {
      server.getConnections((_error, count) => {
        open = count
      })
      return open === 0
    }
    const dial = async (): Promise<RawClient> => {
      const client = await RawClient.to(port())
      clients.push(client)
      return client
    }
    const gone = await dial()
    await until(() => due.length === 1, { what: 'the first acquire' })
    gone.socket.resetAndDestroy()
    await until(ended, { what: 'the end of the first connection' })
    due[0]()
    await until(() => watcher.acquired === 1 && places.count() === 0, { what: 'the place to come back' })
    await dial()
    const tooMany = await dial()
    await until(() => due.length === 3, { what: 'two more' })
    due[1]()
    due[2]()
    await tooMany.closed()
    expect(places.count()).toBe(1)
  })
})

describe('limits', () => {
  test('can be combined, and a connection denied by one holds no permit of the other', async () => {
    const each = await limited(plainServer(), { limit: 1, key: byIp(), name: 'each' })
    const second = new Watcher()
    const all = limitConnections(server, { limit: 5, name: 'all', observers: [second] })
    await arrived()
    await (await arrived()).closed()
    expect([each.limiter.count('127.0.0.1'), all.limiter.count(), second.acquired]).toEqual([1, 1, 1])
  })

  test('count in shadow without closing connections; in off they do not count', async () => {
    const limit = await limited(plainServer(), { limit: 1, mode: 'shadow' })
    const off = limitConnections(server, { limit: 1, mode: 'off' })
    await arrived()
    const second = await arrived()
    expect([second.socket.closed, watcher.denied, limit.limiter.count(), off.limiter.count()]).toEqual([false, 1, 1, 0])
  })

  test('skip connections for which skip returns true', async () => {
    await limited(plainServer(), { limit: 1, skip: (socket) => socket.remoteAddress === '127.0.0.9' })
    await arrived()
    const client = await RawClient.to(port())
    clients.push(client)
    await client.closed()
    const exempt = new RawClient(connect({ port: port(), host: '127.0.0.1', localAddress: '127.0.0.9' }))
    clients.push(exempt)
    await once(exempt.socket, 'connect')
    await arrived('127.0.0.2').then((other) => other.closed())
    expect(exempt.socket.closed).toBe(false)
  })

  test('stop with close(), and count open connections until they close', async () => {
    const limit = await limited(plainServer(), { limit: 1 })
    const first = await arrived()
    limit.close()
    expect(server.emit).toBe(EventEmitter.prototype.emit)
    const second = await RawClient.to(port())
    clients.push(second)
    expect(limit.limiter.count()).toBe(1)
    first.leave()
    await until(() => watcher.held === 0, { what: 'the place to come back' })
    expect(second.socket.closed).toBe(false)
  })

  test('handle a flood of connections that are reset at once: no permit stays held', async () => {
    const limit = await limited(createServer(), { limit: 3, key: () => 'all' })
    for (let round = 0; round < 20; round++) {
      const flood = Array.from({ length: 25 }, () => connect(port(), '127.0.0.1').on('error', () => {}))
      await Promise.all(flood.map((socket) => once(socket, 'connect')))
      for (const socket of flood) socket.resetAndDestroy()
    }
    await until(() => watcher.acquired + watcher.denied === 500 && watcher.held === 0, { what: 'all places' })
    expect([limit.limiter.count('all'), watcher.released === watcher.acquired]).toEqual([0, true])
    expect(watcher.mostHeld).toBeLessThanOrEqual(3)
  })
})

/** A listener that reads incoming data; otherwise it would not notice that a client has disconnected. */
function plainServer(): Server {
  return createNetServer((socket) => void socket.on('error', () => {}).resume())
}
