import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { limitUpgrade, type UpgradeListener } from '@sluice/node-http'
import { until, Warnings, Watcher } from '@sluice/testkit'
import { RawClient } from '../../leaks/raw-client.ts'
import { handshake } from '../../sockets/upgrade-site.ts'

const none = { rateLimit: { limit: 1, window: '1m', cost: () => 2 } } as const
const warnings = new Warnings()
let server: Server
let sockets: Socket[]

beforeEach(() => {
  warnings.listen()
  sockets = []
  server = createServer().on('connection', (socket) => sockets.push(socket))
})

afterEach(() => {
  warnings.stop()
  for (const socket of sockets) socket.destroy()
  server.close()
})

async function heard(): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = await RawClient.to((server.address() as AddressInfo).port)
  client.send(handshake())
  await client.closed()
  return client.heard
}

const upgrade: UpgradeListener = (_req, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\nhello')

test.each([
  ['of its own listener', (seen: string[]) => limitUpgrade(counted(), () => void seen.push('upgraded'))],
  ['beside others', () => limitUpgrade(counted())],
] as const)(
  'an upgrade that a limit has denied is not counted by the next limit, which is %s',
  async (_which, make) => {
    const seen: string[] = []
    server.on(
      'upgrade',
      limitUpgrade(none, () => void seen.push('denied')),
    )
    const behind = make(seen)
    server.on('upgrade', behind)
    expect(await heard()).toMatch(/^HTTP\/1.1 429 (?![\s\S]*HTTP)/)
    expect([seen, watcher.acquired, watcher.decisions.length]).toEqual([[], 0, 0])
    behind.close()
  },
)

let watcher: Watcher
function counted() {
  watcher = new Watcher()
  const observers = [watcher]
  return { rateLimit: { limit: 9, window: '1m', observers }, inflightLimit: { limit: 9, observers } } as const
}

test('an upgrade that was already accepted is cut off, and nothing is written into its stream', async () => {
  server.on('upgrade', limitUpgrade({ inflightLimit: { limit: 9 } }, upgrade))
  server.on('upgrade', limitUpgrade(none))
  expect(await heard()).toMatch(/^HTTP\/1.1 101 (?![\s\S]*HTTP)/)
  expect(warnings.texts).toEqual([expect.stringContaining("another 'upgrade' listener before it")])
})

test('an upgrade that was denied while an earlier limit waited is not accepted by that limit', async () => {
  let asked = 0
  let upgraded = 0
  const key = async (): Promise<string> => {
    asked++
    return 'all'
  }
  server.on(
    'upgrade',
    limitUpgrade({ rateLimit: { limit: 9, window: '1m', key } }, () => void upgraded++),
  )
  // long, so that it is still in flight when the first one has its key
  const denied = (_req: IncomingMessage, res: ServerResponse): unknown => res.end('x'.repeat(1e7))
  server.on(
    'upgrade',
    limitUpgrade({ rateLimit: { ...none.rateLimit, denied } }, () => void upgraded++),
  )
  expect((await heard()).length).toBeGreaterThan(1e7)
  await until(() => sockets.every((socket) => socket.destroyed), { what: 'the end of the socket' })
  expect([asked, upgraded]).toEqual([1, 0])
})
