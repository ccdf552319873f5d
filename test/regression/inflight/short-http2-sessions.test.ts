import { once } from 'node:events'
import { connect, constants, createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { eachSeed, type SeededRandom, until, Watcher } from '@sluice/testkit'
import { frameworks } from '../../leaks/frameworks/frameworks.ts'
import { overHttp2 } from '../../leaks/frameworks/http2-site.ts'

const SESSIONS = 300
const AT_ONCE = 30
/** The documented bound of 400 ms, and the time that a busy machine may add. */
const BOUND_MS = 400 + 600

/** Ways in which a client ends a session whose response may be on its way. */
const ENDS = ['answered', 'stream closed', 'stream cancelled', 'session destroyed', 'socket destroyed'] as const

describe.each(overHttp2)('%s over HTTP/2', (name) => {
  const { inflightLimit, listener } = frameworks[name]
  let watcher: Watcher
  let server: Http2Server
  let sessions: Set<ServerHttp2Session>

  beforeEach(async () => {
    watcher = new Watcher()
    sessions = new Set()
    const cap = inflightLimit({ limit: SESSIONS, observers: [watcher] })
    const bodies = ['some bytes', 'a'.repeat(100_000)]
    let served = 0
    server = createServer(listener(cap, (_req, res) => setImmediate(() => res.end(bodies[served++ % 2]))) as never)
    server.on('sessionError', () => {})
    server.on('session', (session: ServerHttp2Session) => {
      sessions.add(session)
      session.on('close', () => sessions.delete(session))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })

  afterEach(async () => {
    server.close()
    await once(server, 'close')
  })

  async function shortSession(random: SeededRandom): Promise<void> {
    const end = random.pick([...ENDS])
    const { port } = server.address() as AddressInfo
    const socket = connectTcp(port, '127.0.0.1').on('error', () => {})
    const settings = { initialWindowSize: random.pick([0, 100, 65_535]) }
    const session = connect(`http://127.0.0.1:${port}`, { settings, createConnection: () => socket })
    session.on('error', () => {})
    await once(session, 'connect')
    const stream = session
      .request()
      .on('error', () => {})
      .resume()
    const isAnswered = random.whole(2) === 1
    if (end === 'answered') session.settings({ initialWindowSize: 1_000_000 })
    if (isAnswered || end === 'answered') await once(stream, 'response')
    if (end === 'answered') await once(stream, 'close')
    if (end === 'stream closed') stream.close(constants.NGHTTP2_NO_ERROR)
    // the server must notice it before the end of the session, which then does not end the stream
    if (end === 'stream closed') await new Promise((resolve) => session.ping(resolve))
    if (end === 'stream cancelled') stream.close(constants.NGHTTP2_CANCEL)
    if (end === 'socket destroyed') socket.destroy()
    session.destroy()
  }

  test(`frees all places of ${SESSIONS} short sessions within 400 ms of the last`, async () => {
    await eachSeed(1, async (random) => {
      for (let done = 0; done < SESSIONS; done += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, () => shortSession(random)))
      }
      const from = performance.now()
      await until(() => sessions.size === 0 && watcher.held === 0, { what: 'held places to come back' })
      expect(performance.now() - from).toBeLessThan(BOUND_MS)
      expect(watcher.released).toBe(watcher.acquired)
      expect(watcher.acquired).toBeGreaterThan(SESSIONS / 3)
    })
  })
})
