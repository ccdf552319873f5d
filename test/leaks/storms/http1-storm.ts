import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { SeededRandom } from '@sluice/testkit'

const PRIORITIES = ['critical', 'high', 'normal', 'low', 'sheddable', 'urgent', '__proto__', '']
const MOST_REQUESTS = 24

function request(line: string, fields: readonly string[], body: string, random: SeededRandom): string {
  const own = [`X-Priority: ${random.pick(PRIORITIES)}`, `X-Client: ${random.whole(1e6)}`]
  return `${line} HTTP/1.1\r\nHost: a\r\n${[...own, ...fields].map((field) => `${field}\r\n`).join('')}\r\n${body}`
}

const kinds: readonly ((random: SeededRandom) => string)[] = [
  ...Array(6).fill((random: SeededRandom) => request('GET /', [], '', random)),
  (random) => request('HEAD /', [], '', random),
  (random) => request('GET /', ['Connection: close'], '', random),
  (random) => request('POST /', ['Content-Length: 5'], 'abcde', random),
  (random) => request('POST /', ['Transfer-Encoding: chunked'], '2\r\nab\r\n0\r\n\r\n', random),
  // bodies of which the rest never comes
  (random) => request('POST /', ['Content-Length: 500000'], 'ab', random),
  (random) => request('POST /', ['Expect: 100-continue', 'Content-Length: 3'], '', random),
]
const upgrades = (random: SeededRandom): string[] => [
  request('GET /socket', ['Connection: Upgrade', 'Upgrade: echo'], 'bytes', random),
]
// alone: Node stops to read a connection on which so much is queued, which hides that its client has left for 30 s
const slowReads = (random: SeededRandom): string[] => [request('GET /', ['X-Big: 1'], '', random)]

/** Sends requests on one connection and leaves. Returns how many of them had no complete response. */
export async function http1Storm(port: number, random: SeededRandom): Promise<number> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  let answers = 0
  const isReader = random.whole(8) > 0
  if (isReader) {
    socket.on('data', (chunk: Buffer) => {
      if (chunk.length < 10_000) answers += chunk.toString('latin1').split('HTTP/1.1 ').length - 1
    })
  }
  const sent = random.pick([upgrades, slowReads, requests, requests, requests, requests, requests, requests])(random)
  const text = sent.join('')
  // cut off at any byte, also within the headers
  socket.write(random.whole(4) === 0 ? text.slice(0, 1 + random.whole(text.length)) : text)
  await random.pick(moments)(socket, random)
  random.pick(departures)(socket)
  if (!socket.closed) await once(socket, 'close')
  return Math.max(0, sent.length - answers)
}

function requests(random: SeededRandom): string[] {
  const all = Array.from({ length: 1 + random.whole(MOST_REQUESTS) }, () => random.pick(kinds)(random))
  // its response never comes, so those after it have none either
  return random.whole(4) === 0 ? all : [request('GET /', ['X-Hang: 1'], '', random), ...all]
}

const moments: readonly ((socket: Socket, random: SeededRandom) => unknown)[] = [
  () => {},
  // the server needs some turns to accept a connection and to read from it
  (_socket, random) => turns(4 + random.whole(8)),
  (_socket, random) => turns(4 + random.whole(8)),
  (_socket, random) => turns(4 + random.whole(20)),
  (_socket, random) => turns(random.whole(20)),
  // byte by byte
  async (socket, random) => {
    for (let byte = random.whole(8); byte > 0 && !socket.destroyed; byte--) {
      socket.write('a')
      await turns(1)
    }
  },
]

const departures: readonly ((socket: Socket) => unknown)[] = [
  (socket) => socket.destroy(),
  (socket) => socket.destroy(),
  (socket) => socket.resetAndDestroy(),
  // half open for a moment
  (socket) => {
    socket.end()
    setImmediate(() => socket.destroy())
  },
]

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}
