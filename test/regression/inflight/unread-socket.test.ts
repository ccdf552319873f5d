import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { limitUpgrade, type UpgradeLimit } from '@sluice/node-http'
import { until } from '@sluice/testkit'
import { RawClient } from '../../leaks/raw-client.ts'
import { handshake } from '../../sockets/upgrade-site.ts'

// fast timers, so that the check for unread connections runs early
jest.useFakeTimers({ advanceTimers: true, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] })

let server: Server
let limit: UpgradeLimit
let sockets: Socket[]

// a listener next to the limit that ignores requests for other paths
beforeEach(async () => {
  sockets = []
  limit = limitUpgrade({ inflightLimit: { limit: 1 } })
  server = createServer().on('upgrade', limit)
  server.on('upgrade', () => {})
  server.on('connection', (socket) => sockets.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
})

afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

async function upgrading(): Promise<RawClient> {
  const client = await RawClient.to((server.address() as AddressInfo).port)
  client.send(handshake())
  await until(() => limit.caps[0].count() === 1, { what: 'a place to be held' })
  return client
}

test.each<[string, (client: RawClient) => unknown]>([
  ['leaves', (client) => client.leave()],
  ['ends its side', (client) => client.socket.end()],
  ['sends data and disconnects', (client) => client.socket.end('hello')],
])('the permit of a client that %s is released, even if no listener took its socket', async (_how, go) => {
  go(await upgrading())
  await until(() => limit.caps[0].count() === 0, { what: 'the place to come back' })
})

test('the permit of a client that sends a megabyte is released after a minute without a reader', async () => {
  const client = await upgrading()
  client.send('x'.repeat(1e6))
  await until(() => sockets[0].readableLength > 0, { what: 'more than is kept' })
  expect(limit.caps[0].count()).toBe(1)
  jest.advanceTimersByTime(60_000)
  await until(() => limit.caps[0].count() === 0, { what: 'the place to come back' })
})

test('a listener that takes the socket later gets every byte, in order', async () => {
  const client = await upgrading()
  for (const word of ['one ', 'two ', 'three ']) {
    const read = sockets[0].bytesRead
    client.send(word)
    await until(() => sockets[0].bytesRead > read, { what: 'the word to arrive' })
  }
  let heard = ''
  sockets[0].on('data', (chunk) => {
    heard += chunk
  })
  client.socket.end('four')
  await once(sockets[0], 'end')
  expect(heard).toBe('one two three four')
  expect(sockets[0].destroyed).toBe(false)
})
