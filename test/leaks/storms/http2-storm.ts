import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import type { SeededRandom } from '@sluice/testkit'
import { turns } from './http1-storm.ts'

const PRIORITIES = ['critical', 'high', 'normal', 'low', 'sheddable', 'urgent', '__proto__', '']
const CODES = [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL, constants.NGHTTP2_INTERNAL_ERROR]
const MOST_STREAMS = 60

/** Opens streams in one session, resets them and leaves. Returns how many of them had no complete response. */
export async function http2Storm(port: number, random: SeededRandom): Promise<number> {
  const socket = connectSocket(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  const settings = random.whole(3) === 0 ? { initialWindowSize: random.whole(20) } : {}
  const session = connect(`http://127.0.0.1:${port}`, { createConnection: () => socket, settings })
  session.on('error', () => {})
  const ended = new Set<ClientHttp2Stream>()
  const streams = Array.from({ length: 1 + random.whole(MOST_STREAMS) }, () => open(session, random))
  for (const stream of streams) stream.on('end', () => ended.add(stream))
  await turns(random.whole(random.pick([1, 8, 16])))
  const answered = ended.size
  for (const stream of streams) {
    if (random.whole(3) > 0) stream.close(random.pick(CODES))
    if (random.whole(10) === 0) await turns(random.whole(3))
  }
  await turns(random.whole(8))
  random.pick(departures)(session)
  await turns(random.whole(3))
  socket.destroy()
  if (!socket.closed) await once(socket, 'close')
  return streams.length - answered
}

const departures: readonly ((session: ClientHttp2Session) => unknown)[] = [
  (session) => session.destroy(),
  (session) => session.close(),
  (session) => !session.closed && session.goaway(constants.NGHTTP2_NO_ERROR),
  () => {},
]

function open(session: ClientHttp2Session, random: SeededRandom): ClientHttp2Stream {
  const endStream = random.whole(3) > 0
  const headers = {
    ':method': endStream ? 'GET' : 'POST',
    'x-priority': random.pick(PRIORITIES),
    'x-client': `${random.whole(1e6)}`,
    ...(random.whole(20) === 0 && { 'x-big': '1' }),
    ...(random.whole(3) === 0 && { 'x-hang': '1' }),
  }
  const stream = session.request(headers, { endStream })
  stream.on('error', () => {})
  if (!endStream) stream.write('a part')
  if (random.whole(4) > 0) stream.resume()
  return stream
}
