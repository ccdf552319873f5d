import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { type SeededRandom, until } from '@sluice/testkit'
import { PATIENT } from './life-handlers.ts'

const codes = [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL, constants.NGHTTP2_INTERNAL_ERROR]

/** A session with one to four requests, which its client resets and closes at any moment and in any way. */
export async function http2Life(port: number, random: SeededRandom): Promise<void> {
  if (random.whole(5) === 0) return patientLife(port, random)
  const socket = connectSocket(port, '127.0.0.1')
  await once(socket, 'connect')
  const settings = random.whole(3) === 0 ? { initialWindowSize: random.whole(20) } : {}
  const session = connect(`http://127.0.0.1:${port}`, { createConnection: () => socket, settings })
  session.on('error', () => {})
  const streams = Array.from({ length: 1 + random.whole(4) }, () => request(session, random))
  await turns(random.whole(40))
  for (const stream of streams) {
    if (random.whole(3) > 0) stream.close(random.pick(codes))
    if (random.whole(3) === 0) await turns(random.whole(5))
  }
  await turns(random.whole(20))
  random.pick(departures)(session)
  await turns(random.whole(5))
  socket.destroy()
  if (!socket.closed) await once(socket, 'close')
}

/** A session with one to three requests, whose client waits until they are answered or reset. */
async function patientLife(port: number, random: SeededRandom): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  const streams = Array.from({ length: 1 + random.whole(3) }, () => {
    // Koa 2 never answers a HEAD request over HTTP/2
    const method = random.pick(['GET', 'POST', 'OPTIONS'])
    const stream = session.request({ ':method': method, [PATIENT]: 'yes' }, { endStream: method !== 'POST' })
    if (method === 'POST') stream.end('a body')
    return stream.on('error', () => {}).resume()
  })
  await until(() => streams.every(({ closed }) => closed), { what: 'answers to a client that waits over HTTP/2' })
  session.destroy()
  await until(() => session.socket?.destroyed !== false, { what: 'the end of a session' })
}

const departures: readonly ((session: ClientHttp2Session) => unknown)[] = [
  (session) => session.destroy(),
  (session) => session.close(),
  (session) => !session.closed && session.goaway(constants.NGHTTP2_NO_ERROR),
  () => {},
]

function request(session: ClientHttp2Session, random: SeededRandom): ClientHttp2Stream {
  const endStream = random.whole(2) === 0
  const method = random.pick([endStream ? 'GET' : 'POST', 'HEAD'])
  const stream = session.request({ ':method': method }, { endStream })
  stream.on('error', () => {})
  if (!endStream) stream.write('a part')
  if (random.whole(2) === 0) stream.resume()
  return stream
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}
