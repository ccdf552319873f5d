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
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { until, Watcher } from '@sluice/testkit'
import type { Handler } from '../../leaks/frameworks/framework.ts'
import { frameworks } from '../../leaks/frameworks/frameworks.ts'
import { overHttp2 } from '../../leaks/frameworks/http2-site.ts'

const STREAMS = 20

describe.each(overHttp2)('%s over HTTP/2', (name) => {
  const { inflightLimit, listener } = frameworks[name]
  let watcher: Watcher
  let server: Http2Server
  let session: ClientHttp2Session

  /** Serves clients that grant no flow-control window, so that all response data waits. */
  const serve = async (handler: Handler, wrapped: boolean): Promise<void> => {
    const cap = inflightLimit({ limit: STREAMS, observers: [watcher] })
    const steps = wrapped ? listener(cap.wrap(handler)) : listener(cap, handler)
    server = createServer(steps as never).on('sessionError', () => {})
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } }).on('error', () => {})
    await once(session, 'remoteSettings')
  }
  const answered = (): Promise<ClientHttp2Stream[]> =>
    Promise.all(
      Array.from({ length: STREAMS }, async () => {
        const stream = session
          .request()
          .on('error', () => {})
          .resume()
        await once(stream, 'response')
        return stream
      }),
    )
  beforeEach(() => {
    watcher = new Watcher()
  })
  afterEach(async () => {
    session.destroy()
    server.close()
    await once(server, 'close')
  })

  test.each<[string, Handler, boolean]>([
    ['its response has ended', (_req, res) => res.end('some bytes'), false],
    [
      'a wrapped handler pipes into it',
      (_req, res) => pipeline(Readable.from(['some bytes']), res).catch(() => {}),
      true,
    ],
  ])(
    'releases the permit of a stream that its client closes without an error while %s',
    async (_what, handler, wrapped) => {
      await serve(handler, wrapped)
      for (const stream of await answered()) stream.close(constants.NGHTTP2_NO_ERROR)
      await until(() => watcher.held === 0, { what: 'held places to come back' })
      expect([watcher.acquired, watcher.released]).toEqual([STREAMS, STREAMS])
    },
  )

  test('releases the connection, too, after its client has disconnected', async () => {
    await serve((_req, res) => res.end('some bytes'), false)
    for (const stream of await answered()) stream.close(constants.NGHTTP2_NO_ERROR)
    // after the server has detected it, so that the end of the connection does not trigger the release
    await new Promise((resolve) => session.ping(resolve))
    session.destroy()
    await until(() => watcher.held === 0, { what: 'held places to come back' })
    let connections = 1
    const count = (): boolean => {
      server.getConnections((_error, open) => {
        connections = open
      })
      return connections === 0
    }
    await until(count, { what: 'the end of the connection' })
  })

  test('does not affect a response that the server closes while its client still reads', async () => {
    const body = Buffer.alloc(100_000, 'a')
    await serve((_req, res) => {
      res.end(body)
      ;(res as unknown as { stream: ClientHttp2Stream }).stream.close(constants.NGHTTP2_NO_ERROR)
    }, false)
    const [stream] = await answered()
    let heard = 0
    stream.on('data', (chunk: Buffer) => {
      heard += chunk.length
    })
    // longer than a stall may go undetected: only then does the client grant the rest of the window
    const since = performance.now()
    await until(() => performance.now() - since > 500)
    session.settings({ initialWindowSize: 1_000_000 })
    await until(() => heard === body.length, { what: 'the whole response' })
  })
})
