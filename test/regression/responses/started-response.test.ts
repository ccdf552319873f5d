import { once } from 'node:events'
import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, createServer as createHttp2 } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { RateLimitOptions } from '@sluice/node-http'
import { until, Warnings, Watcher } from '@sluice/testkit'
import type { Step } from '../../leaks/frameworks/framework.ts'
import { frameworks } from '../../leaks/frameworks/frameworks.ts'
import { overHttp2 } from '../../leaks/frameworks/http2-site.ts'
import { RawClient } from '../../leaks/raw-client.ts'
import { endedAfterEach } from '../../services/for-tests.ts'

type Options = Partial<RateLimitOptions<IncomingMessage, ServerResponse>> & { readonly next?: boolean }

const start = (res: ServerResponse): void => {
  res.writeHead(200, { 'Content-Type': 'text/plain' })
  res.write('a part')
}
const starting: Step = (_req, res, next) => {
  start(res)
  next()
}
/** The request of any framework: a context of Koa, a request of Fastify, or the incoming message. */
type Raw = IncomingMessage & { readonly req?: Raw; readonly raw?: Raw; readonly res: ServerResponse }
const responseOf = (req: IncomingMessage): ServerResponse => {
  const { raw, req: incoming, res } = req as Raw
  return (raw ?? incoming)?.res ?? res
}
const passing: Step = (_req, _res, next) => next()

/** Ways to configure a limiter, and what happens before and during its check. */
const cases: readonly (readonly [name: string, options: Options, before: Step])[] = [
  ['a limiter', {}, starting],
  ['a limiter with its own message', { message: 'slow down' }, starting],
  ['a limiter with its own answer', { denied: (_req, res) => res.end('slow down') }, starting],
  ['a limiter with an asynchronous key', { key: async () => 'all' }, starting],
  [
    'a limiter whose key function starts the response',
    {
      key: async (req) => {
        start(responseOf(req))
        return 'all'
      },
    },
    passing,
  ],
]

describe.each(Object.entries(frameworks))('%s', (name, framework) => {
  const warnings = new Warnings()
  const sockets = endedAfterEach<Socket>((socket) => socket.destroy())
  let server: Server
  beforeEach(() => warnings.listen())
  afterEach(async () => {
    server.close()
    await once(server, 'close')
    warnings.stop()
  })

  const serve = async (http2: boolean, before: Step, options: Options): Promise<Watcher> => {
    const watcher = new Watcher()
    const expose: Step = (req, res, next) => {
      Object.assign(req, { res })
      next()
    }
    // a cost above the limit is always denied
    const denying = framework.rateLimit({
      limit: 1,
      window: '1m',
      cost: () => 2,
      key: () => 'all',
      ...options,
    } as never)
    const steps = framework.listener(
      expose,
      framework.inflightLimit({ limit: 1, observers: [watcher] }),
      before,
      denying,
      (_req, res) => res.end('handled'),
    )
    server = http2 ? createHttp2(steps as never).on('sessionError', () => {}) : createHttp1(steps)
    server.on('connection', (socket) => sockets.push(socket))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return watcher
  }
  const port = (): number => (server.address() as AddressInfo).port

  test.each(cases)('aborts a response that has started in front of %s that denies', async (_case, options, before) => {
    const watcher = await serve(false, before, options)
    for (const method of ['GET', 'HEAD', 'POST']) {
      const client = await RawClient.to(port())
      client.send(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
      await client.closed()
      // no last chunk: the client detects that the response is incomplete
      expect(client.heard).not.toMatch(/0\r\n\r\n$/)
      await until(() => watcher.acquired > 0 && watcher.held === 0, { what: 'the held place to come back' })
    }
    expect([watcher.acquired, watcher.released, watcher.denied]).toEqual([3, 3, 0])
    expect(warnings.codes).toEqual(['SLUICE_RESPONSE_STARTED'])
  })

  if (!overHttp2.includes(name)) return
  test.each(cases)(
    'resets an HTTP/2 stream that has started in front of %s that denies',
    async (_case, options, before) => {
      const watcher = await serve(true, before, options)
      const session = connect(`http://127.0.0.1:${port()}`)
      const stream = session.request({ ':path': '/' }).resume()
      const [error] = await once(stream, 'error')
      expect(error.code).toBe('ERR_HTTP2_STREAM_ERROR')
      await until(() => watcher.acquired === 1 && watcher.held === 0, { what: 'the held place to come back' })
      expect(warnings.codes).toEqual(['SLUICE_RESPONSE_STARTED'])
      session.destroy()
    },
  )
})
