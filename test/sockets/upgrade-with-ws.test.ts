import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createInflightLimiter, limitUpgrade, type UpgradeLimitOptions } from '@sluice/node-http'
import { until, Warnings } from '@sluice/testkit'
import { WebSocket, WebSocketServer } from 'ws'
import { RawClient } from '../leaks/raw-client.ts'
import { tlsClient, tlsServer } from './tls-without-certificates.ts'
import { handshake } from './upgrade-site.ts'

const warnings = new Warnings()
let server: Server
let sockets: WebSocketServer
const clients: WebSocket[] = []
const connections: Socket[] = []

beforeEach(() => warnings.listen())
afterEach(async () => {
  warnings.stop()
  for (const client of clients.splice(0)) client.terminate()
  for (const socket of sockets.clients) socket.terminate()
  for (const connection of connections.splice(0)) connection.destroy()
  sockets.close()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** A WebSocket server of ws in `{ server }` mode, with a limit before or after it. */
async function listening(options: UpgradeLimitOptions, { tls = false, behind = false } = {}) {
  const limit = limitUpgrade(options)
  server = tls ? createTlsServer(tlsServer) : createServer()
  server.on('connection', (socket) => connections.push(socket))
  if (!behind) server.on('upgrade', limit)
  sockets = new WebSocketServer({ server })
  if (behind) server.on('upgrade', limit)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return limit
}

/** The status that a client received, or another outcome. */
function dial(): Promise<string> {
  const { port } = server.address() as AddressInfo
  const secure = server.listenerCount('secureConnection') > 0
  const client = new WebSocket(`${secure ? 'wss' : 'ws'}://127.0.0.1:${port}`, secure ? tlsClient : {})
  clients.push(client)
  return new Promise((resolve) => {
    client.on('open', () => resolve('open'))
    client.on('unexpected-response', (_req, res) => {
      res.resume().on('end', () => resolve(String(res.statusCode)))
    })
    client.on('error', (error) => resolve(error.message))
  })
}

/** All bytes that a client received until it was disconnected. */
async function heardUntilTheEnd(): Promise<string> {
  const client = await RawClient.to((server.address() as AddressInfo).port)
  const key = { 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' }
  client.send(handshake({ Upgrade: 'websocket', ...key }))
  await client.closed()
  return client.heard
}

const once1m = { limit: 1, window: '1m', key: () => 'all' } as const

describe.each([
  ['TCP', false],
  ['TLS', true],
])("limitUpgrade(options) before ws's own listener, over %s", (_carrier, tls) => {
  test('answers a denied client, whose closed socket ws ignores', async () => {
    await listening({ rateLimit: once1m }, { tls })
    expect(await dial()).toBe('open')
    for (let times = 0; times < 20; times++) expect(await dial()).toBe('429')
    expect(sockets.clients.size).toBe(1)
    expect(warnings.codes).toEqual([])
  })

  test('holds a permit until the socket closes', async () => {
    const limit = await listening({ inflightLimit: { limit: 1 } }, { tls })
    expect([await dial(), await dial()]).toEqual(['open', '503'])
    clients[0].close()
    await until(() => limit.caps[0].count() === 0, { what: 'the place to come back' })
    expect(await dial()).toBe('open')
  })
})

describe('limitUpgrade(options) with an asynchronous key', () => {
  const options = { rateLimit: { ...once1m, key: async () => 'all' } }

  test('disconnects a client that ws has upgraded in the meantime, without writing to its stream, and warns', async () => {
    await listening(options)
    expect(await dial()).toBe('open')
    expect(await heardUntilTheEnd()).toMatch(/^HTTP\/1.1 101 (?![\s\S]*HTTP)/)
    expect(sockets.clients.size).toBe(1)
    expect(warnings.codes).toEqual(['SLUICE_BAD_OPTION'])
  })

  test('answers if nothing has been written to the socket', async () => {
    await listening(options)
    server.removeAllListeners('upgrade')
    server.on('upgrade', limitUpgrade(options))
    const first = dial()
    expect(await dial()).toBe('429')
    clients[0].terminate()
    await first
  })
})

describe("limitUpgrade(options) after ws's own listener", () => {
  test('disconnects a denied client, and warns that the limit ran too late', async () => {
    const limit = await listening({ inflightLimit: { limit: 1 } }, { behind: true })
    expect(await dial()).toBe('open')
    expect(await heardUntilTheEnd()).toMatch(/^HTTP\/1.1 101 (?![\s\S]*HTTP)/)
    expect(sockets.clients.size).toBe(1)
    expect(limit.caps[0].count()).toBe(1)
    expect(warnings.texts).toEqual([expect.stringContaining("another 'upgrade' listener before it")])
  })

  test('does not treat other Sluice limits as such a listener', async () => {
    await listening({ rateLimit: { ...once1m, limit: 9 } })
    server.prependListener('upgrade', limitUpgrade({ inflightLimit: { limit: 1 } }))
    expect([await dial(), await dial()]).toEqual(['open', '503'])
    expect(warnings.codes).toEqual([])
  })
})

describe('limitUpgrade(options, upgrade) with ws', () => {
  test('lets ws upgrade after an asynchronous key and backend', async () => {
    server = createServer()
    sockets = new WebSocketServer({ noServer: true })
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(`${data}!`)))
    const places = createInflightLimiter({ limit: 1 })
    const backend = { acquire: async () => places.acquire() ?? ({ allowed: false, retryAfterMs: 1_000 } as const) }
    const limit = limitUpgrade(
      { rateLimit: { ...once1m, limit: 2, key: async () => 'all' }, inflightLimit: { limit: 1, backend } },
      (req, socket, head) => {
        sockets.handleUpgrade(req, socket, head, (ws) => sockets.emit('connection', ws, req))
      },
    )
    await once(server.on('upgrade', limit).listen(0, '127.0.0.1'), 'listening')
    expect(await dial()).toBe('open')
    const answer = once(clients[0], 'message')
    clients[0].send('hello')
    expect(String((await answer)[0])).toBe('hello!')
    expect([await dial(), await dial()]).toEqual(['503', '429'])
    clients[0].close()
    await until(() => places.count() === 0, { what: 'the place to come back' })
  })
})
