import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, createServer, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { slowDown } from '@sluice/node-http'
import { FakeClock, until } from '@sluice/testkit'

let clock: FakeClock
let server: Http2Server
let session: ClientHttp2Session
let limit: ReturnType<typeof slowDown>
let handled: number

beforeEach(async () => {
  clock = new FakeClock()
  handled = 0
  limit = slowDown({ after: 0, window: '1h', delayMs: 100, maxDelayMs: 100, maxWaiting: 1, clock })
  server = createServer(
    limit.wrap((_req, res) => {
      handled++
      res.end('ok')
    }) as never,
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  session.on('error', () => {})
})
afterEach(async () => {
  session.destroy()
  server.close()
  await once(server, 'close')
})

test('a stream that is reset while it waits leaves the queue, and its handler never runs', async () => {
  const left = session.request({ ':path': '/' })
  left.on('error', () => {})
  await until(() => limit.waiting() === 1)
  left.close(constants.NGHTTP2_CANCEL)
  await until(() => limit.waiting() === 0)
  expect(clock.pending).toBe(0)
  const here = session.request({ ':path': '/' }).resume()
  await until(() => limit.waiting() === 1)
  clock.advance(100)
  await once(here, 'end')
  expect(handled).toBe(1)
})

test('a stream that cannot wait is answered 429, and the connection stays open', async () => {
  const first = session.request({ ':path': '/' }).resume()
  await until(() => limit.waiting() === 1)
  const second = session.request({ ':path': '/' }).resume()
  const [headers] = await once(second, 'response')
  expect([headers[':status'], headers['retry-after'], headers['content-type']]).toEqual([
    429,
    '1',
    'application/problem+json',
  ])
  clock.advance(100)
  await once(first, 'end')
  expect(handled).toBe(1)
})
