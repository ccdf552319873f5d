import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type Http2Server,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { type RateLimitOptions, rateLimit } from '@sluice/node-http'
import { until, Warnings } from '@sluice/testkit'

const warnings = new Warnings()
let server: Http2Server
let session: ClientHttp2Session

/** A server that denies every request. */
async function denying(options: Partial<RateLimitOptions> = {}): Promise<void> {
  const limit = rateLimit({ limit: 1, window: '1m', cost: () => 2, ...options } as RateLimitOptions as never)
  server = createServer(limit.wrap(() => {}))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  session.on('error', () => {})
  warnings.listen()
}

afterEach(async () => {
  warnings.stop()
  session.destroy()
  server.close()
  await once(server, 'close')
})

test('a denial over node:http2 has the same bytes, without headers that HTTP/2 forbids', async () => {
  await denying()
  const stream = session.request({ ':path': '/', ':method': 'POST', 'content-length': '100000' })
  stream.on('error', () => {})
  const [headers] = await once(stream, 'response')
  expect(Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'date'))).toEqual({
    ':status': 429,
    'ratelimit-policy': '"default";q=1;w=60',
    ratelimit: '"default";r=0',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json',
    'content-length': '143',
  })
  let body = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  await once(stream, 'end')
  expect(body).toHaveLength(143)
  expect(warnings.codes).toEqual([])
})

test.each<[string, (stream: ClientHttp2Stream) => unknown]>([
  ['reset its stream', (stream) => stream.close(constants.NGHTTP2_CANCEL)],
  ['destroyed its session', () => session.destroy()],
])('a denial after a client of node:http2 %s is not an error', async (_what, leave) => {
  let closed = 0
  let denied = 0
  const waiting: ((key: string) => void)[] = []
  const key = (): Promise<string> => new Promise((resolve) => waiting.push(resolve))
  await denying({ key, observers: [{ decided: () => denied++ }] })
  server.on('stream', (stream) => stream.once('close', () => closed++))
  const stream = session.request({ ':path': '/' })
  stream.on('error', () => {})
  await until(() => waiting.length === 1)
  leave(stream)
  await until(() => closed === 1)
  waiting[0]('late')
  await until(() => denied === 1)
  // a late error would have surfaced by now
  await new Promise(setImmediate)
  expect(warnings.codes).toEqual([])
})
