import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { type Clock, slowDown } from '@sluice/node-http'
import { RawClient } from '../../leaks/raw-client.ts'

const still = { now: () => 0, wall: () => 0 }
const atOnce: Clock = {
  ...still,
  after: (_ms, run) => {
    run()
    return () => {}
  },
}
// like the clock of a user without type checks
const withoutCancel = { ...still, after: (_ms: number, run: () => void) => void setImmediate(run) } as unknown as Clock

test.each<[string, Clock]>([
  ['runs callbacks at once', atOnce],
  ['returns no cancel function', withoutCancel],
])('slowDown releases requests if the clock %s', async (_how, clock) => {
  const limit = slowDown({ after: 0, window: '1m', delayMs: 10, maxDelayMs: 50, clock })
  const server = createServer(limit.wrap((_req, res) => res.end('through')))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = await RawClient.to((server.address() as AddressInfo).port)
  client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await client.closed()
  expect(client.heard).toMatch(/^HTTP\/1.1 200 OK[\s\S]*through$/)
  expect(limit.waiting()).toBe(0)
  server.close()
})
