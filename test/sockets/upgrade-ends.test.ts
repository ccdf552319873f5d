import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { limitUpgrade, type UpgradeLimitOptions } from '@sluice/node-http'
import { until } from '@sluice/testkit'
import { RawClient } from '../leaks/raw-client.ts'
import { handshake, type SocketClient, UpgradeSite, type UpgradeSiteOptions } from './upgrade-site.ts'

let site: UpgradeSite

async function siteOf(options: UpgradeLimitOptions, more?: UpgradeSiteOptions): Promise<UpgradeSite> {
  site = await UpgradeSite.of(options, more)
  return site
}

afterEach(() => site.close())

const cap = { inflightLimit: { limit: 1 } }

describe.each([
  ['TCP', false],
  ['TLS', true],
])('over %s the permit of an open socket is released once', (_carrier, tls) => {
  const ends: readonly (readonly [string, (client: SocketClient) => unknown])[] = [
    ['the client disconnects', (client) => client.leave()],
    ['the client resets the connection', (client) => client.reset()],
    ['the client ends its side', (client) => client.socket.end()],
    ['the client ends its side with final data', (client) => client.socket.end('bye')],
    ['the server destroys the socket', () => site.sockets[0].destroy()],
    ['the server destroys the socket with an error', () => site.sockets[0].destroy(new Error('no more'))],
    ['the server ends the socket', () => site.sockets[0].end()],
    ['both sides end it at once', (client) => [client.socket.end(), site.sockets[0].end()]],
    ['the client resets while the server writes', (client) => [site.sockets[0].write('x'.repeat(1e6)), client.reset()]],
  ]

  test.each(ends)('when %s', async (_how, end) => {
    await siteOf(cap, { tls })
    const client = await site.open()
    end(client)
    await site.allReleased(1)
    await site.open()
  })

  test('when the listener after it never responds, and the client disconnects', async () => {
    await siteOf(cap, { tls, upgrade: (_req, socket) => socket.resume() })
    const client = await site.asking()
    await until(() => site.upgraded.length === 1, { what: 'the upgrade' })
    client.leave()
    // the server side is still half open, as it would be without a limit
    site.sockets[0].end()
    await site.allReleased(1)
  })

  test('and not before the socket is closed, however long it is idle', async () => {
    await siteOf(cap, { tls })
    const client = await site.open()
    expect(await site.answer()).toMatch(/^HTTP\/1.1 503/)
    client.send('still here')
    await client.hears('still here')
    expect(site.watcher.held).toBe(1)
  })
})

test('2,000 upgrades are counted one by one, and leave no listener and no held permit', async () => {
  await siteOf({ rateLimit: { limit: 1e6, window: '1m' }, inflightLimit: { limit: 50 } })
  const listeners = site.server.listenerCount('upgrade')
  const perSocket = new Set<number>()
  const visit = async (): Promise<void> => {
    const client = await site.open()
    client.reset()
    site.clients.length = 0
  }
  for (let round = 0; round < 40; round++) {
    await Promise.all(Array.from({ length: 50 }, visit))
    for (const socket of site.sockets.splice(0))
      perSocket.add(socket.listenerCount('error') + socket.listenerCount('close'))
    await until(() => site.watcher.held === 0, { what: 'the places of a round' })
  }
  await site.allReleased(2_000)
  expect(site.watcher.mostHeld).toBeLessThanOrEqual(50)
  expect(site.server.listenerCount('upgrade')).toBe(listeners)
  expect(Math.max(...perSocket)).toBeLessThanOrEqual(4)
})

describe('a client that resets', () => {
  test('does not crash the process, neither during its denial nor before a listener is attached to its socket', async () => {
    await siteOf(cap, { upgrade: () => {} })
    const open = await site.asking()
    await until(() => site.upgraded.length === 1, { what: 'the upgrade' })
    // only the limit listens for errors of this socket: an unhandled error would end this process
    expect(site.sockets[0].listenerCount('error')).toBe(1)
    open.reset()
    await site.allReleased(1)
    await site.asking()
    await until(() => site.upgraded.length === 2, { what: 'the next upgrade' })
    for (let times = 0; times < 50; times++) {
      const denied = await site.asking()
      denied.reset()
    }
    await until(() => site.sockets.length === 52 && site.sockets.slice(2).every((socket) => socket.closed), {
      what: 'the end of the denied sockets',
    })
  })
})

test('an upgrade on a connection with earlier requests holds its permit until that connection closes', async () => {
  await siteOf(cap, { request: (_req, res) => res.end('ok') })
  const client = await site.asking('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await client.hears('ok')
  client.send(handshake())
  await client.hears('101 Switching Protocols')
  client.leave()
  await site.allReleased(1)
})

test('close() of a server with open sockets does not release their permits', async () => {
  const limit = limitUpgrade({ inflightLimit: { limit: 1 } }, (_req, socket) => socket.write('open'))
  const server = createServer().on('upgrade', limit).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await siteOf(cap)
  const client = await RawClient.to((server.address() as AddressInfo).port)
  client.send(handshake())
  await client.hears('open')
  server.close()
  expect(limit.caps[0].count()).toBe(1)
  client.socket.resetAndDestroy()
  await once(server, 'close')
  await until(() => limit.caps[0].count() === 0, { what: 'the place of the socket' })
})
