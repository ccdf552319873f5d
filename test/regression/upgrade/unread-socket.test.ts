import { afterEach, describe, expect, jest, test } from '@jest/globals'
import type { UpgradeListener } from '@sluice/node-http'
import { until } from '@sluice/testkit'
import { handshake, type SocketClient, UpgradeSite } from '../../sockets/upgrade-site.ts'

// fast timers, so that the check for unread connections runs early
jest.useFakeTimers({ advanceTimers: true, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] })

let site: UpgradeSite
afterEach(() => site.close())

const cap = { inflightLimit: { limit: 1 } }
const REFUSAL = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'

const listeners: readonly (readonly [string, UpgradeListener])[] = [
  ['returns without touching the socket', () => {}],
  ['returns a promise and never touches the socket', async () => {}],
  ['never settles', () => new Promise(() => {})],
  ['writes a 401', (_req, socket) => socket.write(REFUSAL)],
  ['writes a 401 and ends its side', (_req, socket) => socket.end(REFUSAL)],
  [
    'writes a 401 after some work',
    async (_req, socket) => {
      await new Promise(setImmediate)
      socket.write(REFUSAL)
    },
  ],
  ['pauses the socket', (_req, socket) => socket.pause()],
]

const departures: readonly (readonly [string, (client: SocketClient) => unknown])[] = [
  ['disconnects', (client) => client.leave()],
  ['resets its connection', (client) => client.reset()],
  ['ends its side', (client) => client.socket.end()],
  ['sends data and disconnects', (client) => client.socket.end('some data')],
]

describe.each([false, true])('over TLS: %s, a listener that', (tls) => {
  describe.each(listeners)('%s', (_what, upgrade) => {
    test.each(departures)('holds no place after its client %s', async (_how, leave) => {
      site = await UpgradeSite.of(cap, { tls, upgrade })
      const client = await site.asking()
      await until(() => site.upgraded.length === 1, { what: 'the upgrade' })
      leave(client)
      await site.allReleased(1)
    })

    test('holds no place for a client that sends 1 MB and disconnects', async () => {
      site = await UpgradeSite.of(cap, { tls, upgrade })
      const client = await site.asking()
      await until(() => site.upgraded.length === 1, { what: 'the upgrade' })
      client.socket.end('x'.repeat(1e6))
      await until(() => client.socket.closed || site.sockets[0].destroyed || site.sockets[0].readableLength > 0)
      jest.advanceTimersByTime(60_000)
      await site.allReleased(1)
    })
  })

  // an error that a listener throws ends the process, as without a limit
  test('throws or rejects holds no place, and its error surfaces', async () => {
    const failures: readonly UpgradeListener[] = [
      () => {
        throw new Error('a fault of the application')
      },
      async () => {
        await new Promise(setImmediate)
        throw new Error('a fault of the application')
      },
    ]
    for (const upgrade of failures) {
      const errors: unknown[] = []
      const listener: UpgradeListener = (req, socket, head) => {
        site.server.off('upgrade', site.limit)
        return upgrade(req, socket, head)
      }
      site = await UpgradeSite.of(cap, { tls, upgrade: listener })
      const [limit] = site.server.listeners('upgrade')
      site.server.removeAllListeners('upgrade')
      site.server.on('upgrade', async (...args) => {
        try {
          await limit(...args)
        } catch (error) {
          errors.push(error)
        }
      })
      const client = await site.asking()
      await client.closed()
      await site.allReleased(1)
      expect(errors.map(String)).toEqual(['Error: a fault of the application'])
      await site.close()
    }
  })

  test('reads late receives all data in order: the head, and what arrived before it read', async () => {
    let read = (): void => {}
    const upgrade: UpgradeListener = (_req, socket, head) => {
      read = () => {
        socket.unshift(head)
        socket.on('data', (chunk) => socket.write(chunk))
      }
    }
    site = await UpgradeSite.of(cap, { tls, upgrade })
    const client = await site.asking(`${handshake()}first, `)
    await until(() => site.upgraded.length === 1, { what: 'the upgrade' })
    const [socket] = site.sockets
    await until(() => socket.listenerCount('readable') === 1, { what: 'the watch of the unread socket' })
    client.send('second, ')
    await until(() => client.socket.bytesWritten > 0 && socket.readableLength === 0)
    client.send('third')
    await new Promise(setImmediate)
    read()
    await client.hears('first, second, third')
    expect(socket.listenerCount('readable')).toBe(0)
  })

  test('reads late receives a megabyte that its client sent meanwhile', async () => {
    let read = (): void => {}
    const upgrade: UpgradeListener = (_req, socket) => {
      read = () => socket.on('data', (chunk) => socket.write(chunk))
    }
    site = await UpgradeSite.of(cap, { tls, upgrade })
    const client = await site.asking()
    await until(() => site.upgraded.length === 1, { what: 'the upgrade' })
    const text = 'abcdefghi\n'.repeat(100_000)
    client.send(text)
    await until(() => site.sockets[0].readableLength > 0, { what: 'more than is kept' })
    read()
    await until(() => client.heard.length >= text.length, { what: 'the megabyte' })
    expect(client.heard === text).toBe(true)
  })
})
