import { once } from 'node:events'
import { createServer, type Http2Server } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createSluice, memoryBackend } from '@sluice/node-http'
import { redisBackend } from '@sluice/redis'
import { until } from '@sluice/testkit'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { redisForTests } from '../services/redis/redis-for-tests.ts'

const STREAMS = 100
const LIMIT = 7
const [HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE] = [1, 3, 4, 8]
const CANCEL = 8
const ENDS = 5

const redis = redisForTests()
let server: Http2Server
let socket: Socket
const ends: (() => void)[] = []
let handled = 0
let lastStream = 0

afterEach(async () => {
  socket.destroy()
  for (const end of ends.splice(0)) end()
  server.close()
  await once(server, 'close')
})

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** The header fields `POST http://a/login`, from the static table of HPACK and literals. */
const REQUEST = Buffer.concat([
  Buffer.from([0x83, 0x86, 0x01, 1]),
  Buffer.from('a'),
  Buffer.from([0x04, 6]),
  Buffer.from('/login'),
])

/** Streams of a client have odd ids. */
const ids = Array.from({ length: STREAMS }, (_, index) => 2 * index + 1)

/** Starts a server with a cap and a limit, and sends the frames to it in one write. */
async function sent(limit: number, frames: readonly Buffer[], backend = memoryBackend() as never) {
  handled = 0
  lastStream = 0
  const { rateLimit, inflightLimit } = createSluice({ deadlineMs: 10_000 })
  const cap = inflightLimit({ limit: 1_000 })
  const rate = rateLimit({ name: ownPrefix(), limit, window: '1h', backend })
  const handle = cap.wrap(
    rate.wrap((req, res) => {
      handled++
      lastStream = (req as unknown as { readonly stream: { readonly id: number } }).stream.id
      ends.push(() => res.end('done'))
    }) as never,
  )
  server = createServer(handle as never)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {}).resume()
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(Buffer.concat([preface, frame(SETTINGS, 0, 0, Buffer.alloc(0)), ...frames]))
  return { cap, rate }
}

describe('100 streams in one write', () => {
  const requests = ids.map((id) => frame(HEADERS, ENDS, id, REQUEST))

  test.each(['memory', 'Redis'] as const)('reach the handler as often as the limit in %s allows', async (where) => {
    const backend = where === 'memory' ? memoryBackend() : redisBackend(redis.server.client(), { prefix: ownPrefix() })
    const { cap, rate } = await sent(LIMIT, requests, backend as never)
    const key = '127.0.0.1'
    await until(() => handled === LIMIT && cap.limiter.count() === LIMIT)
    expect((await rate.limiter.peek(key)).allowed).toBe(false)
    for (const end of ends.splice(0)) end()
    await until(() => cap.limiter.count() === 0)
    expect(handled).toBe(LIMIT)
  })
})

describe.each<[string, (id: number) => Buffer[]]>([
  ['are cancelled in the same write', (id) => [frame(RST_STREAM, 0, id, number(CANCEL))]],
  ['have a WINDOW_UPDATE of 0', (id) => [frame(WINDOW_UPDATE, 0, id, number(0))]],
  ['have a window that is too large', (id) => [frame(WINDOW_UPDATE, 0, id, number(2 ** 31 - 1))]],
])('100 streams that %s', (_name, after) => {
  test('hold nothing', async () => {
    const frames = ids.flatMap((id) => [frame(HEADERS, ENDS, id, REQUEST), ...after(id)])
    const { cap } = await sent(1_000, frames)
    const further = 2 * STREAMS + 1
    socket.write(frame(HEADERS, ENDS, further, REQUEST))
    // the server handles the further request, or has closed the connection
    await until(() => socket.destroyed || lastStream === further)
    for (const end of ends.splice(0)) end()
    await until(() => cap.limiter.count() === 0)
  })
})

test('a WINDOW_UPDATE of 0 for the connection, which ends it, leaves nothing held', async () => {
  const requests = ids.map((id) => frame(HEADERS, ENDS, id, REQUEST))
  const { cap } = await sent(1_000, [...requests, frame(WINDOW_UPDATE, 0, 0, number(0))])
  await until(() => socket.destroyed)
  await until(() => cap.limiter.count() === 0)
})
