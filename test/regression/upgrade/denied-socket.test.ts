import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { inflightLimit, limitUpgrade } from '@sluice/node-http'
import { until } from '@sluice/testkit'
import { GET, RawClient } from '../../leaks/raw-client.ts'
import { handshake, type SocketClient, UpgradeSite } from '../../sockets/upgrade-site.ts'

const departures: readonly (readonly [string, (client: SocketClient) => unknown])[] = [
  ['leaves', (client) => client.leave()],
  ['resets', (client) => client.reset()],
  ['ends its side', (client) => client.socket.end()],
  ['sends a flood of data, and then disconnects', (client) => client.socket.end('x'.repeat(1e6))],
]

test.each(departures)('a client that %s while its denial is written is detected', async (_how, leave) => {
  let asked = 0
  const denied = (): Promise<void> => {
    asked++
    return new Promise(() => {})
  }
  const site = await UpgradeSite.of({ rateLimit: { limit: 1, window: '1m', cost: () => 2, denied } })
  const client = await site.asking()
  await until(() => asked === 1, { what: 'the denial' })
  leave(client)
  await until(() => site.sockets[0].destroyed, { what: 'the end of the socket' })
  await site.close()
})

test('a denial that waits for the answer of an earlier request holds no permit for that request', async () => {
  const cap = inflightLimit({ limit: 1 })
  let pending = 0
  const server = createServer(cap.wrap(() => void pending++))
  server.on('upgrade', limitUpgrade({ rateLimit: { limit: 1, window: '1m', cost: () => 2 } }))
  const connected = once(server, 'connection')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = await RawClient.to((server.address() as AddressInfo).port)
  client.send(GET + handshake())
  await until(() => pending === 1, { what: 'the request before' })
  const [socket] = (await connected) as [Socket]
  client.leave()
  await until(() => cap.limiter.count() === 0, { what: 'the place to come back' })
  expect(socket.destroyed).toBe(true)
  server.close()
})
