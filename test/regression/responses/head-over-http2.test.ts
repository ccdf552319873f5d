import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, createServer, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { FakeClock, until, Watcher } from '@sluice/testkit'
import type { Handler, Step } from '../../leaks/frameworks/framework.ts'
import { frameworks } from '../../leaks/frameworks/frameworks.ts'
import { overHttp2 } from '../../leaks/frameworks/http2-site.ts'

const cases = overHttp2.flatMap((name) => ['GET', 'HEAD'].map((method) => [name, method] as const))
const failing: Handler = (_req, res) =>
  setImmediate(() => {
    res.statusCode = 401
    res.end()
  })

/** A request of the client, and the status of its response once it has one. */
interface Asked {
  readonly status: () => number | undefined
  readonly closed: () => boolean
  leave(): void
}

describe.each(cases)('%s over HTTP/2 with %s', (name, method) => {
  const framework = frameworks[name]
  let server: Http2Server
  let session: ClientHttp2Session
  let entered = 0

  const counted =
    (handler: Handler): Handler =>
    (req, res) => {
      entered++
      return handler(req, res)
    }
  const listen = async (...steps: readonly Step[]): Promise<void> => {
    entered = 0
    server = createServer(framework.listener(...steps) as never)
    server.on('sessionError', () => {})
    await once(server.listen(0, '127.0.0.1'), 'listening')
    session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    session.on('error', () => {})
    await once(session, 'connect')
  }
  const serve = (handler: Handler, limit: Step): Promise<void> => listen(limit, counted(handler))
  const ask = (): Asked => {
    const stream = session.request({ ':path': '/', ':method': method }, { endStream: true })
    let status: number | undefined
    stream.on('response', (headers) => {
      status = headers[':status']
    })
    stream.on('error', () => {}).resume()
    return {
      status: () => status,
      closed: () => stream.closed,
      leave: () => stream.close(constants.NGHTTP2_CANCEL),
    }
  }
  const askAndWait = async (): Promise<number | undefined> => {
    const asked = ask()
    await until(() => asked.closed(), { what: 'the end of a response' })
    return asked.status()
  }
  afterEach(async () => {
    session.destroy()
    server.close()
    await once(server, 'close')
  })

  test('a cap holds its places until the responses end', async () => {
    const watcher = new Watcher()
    const responses: (() => void)[] = []
    await serve(
      (_req, res) => responses.push(() => res.end('ok')),
      framework.inflightLimit({ limit: 2, observers: [watcher] }),
    )
    const held = [ask(), ask()]
    await until(() => entered === 2)
    expect(await askAndWait()).toBe(503)
    expect([entered, watcher.held]).toEqual([2, 2])
    for (const respond of responses.splice(0)) respond()
    await until(() => held.every((one) => one.closed()) && watcher.held === 0)
    expect([...held.map((one) => one.status()), watcher.mostHeld]).toEqual([200, 200, 2])
  })

  test('a queued request gets its turn, and is answered', async () => {
    const responses: (() => void)[] = []
    const clock = new FakeClock()
    const cap = framework.inflightLimit({ limit: 1, queue: { max: 2, maxWaitMs: '10s' }, clock })
    await serve((_req, res) => responses.push(() => res.end('ok')), cap)
    const asked = [ask(), ask()]
    await until(() => entered === 1)
    responses[0]()
    await until(() => entered === 2, { what: 'the turn of the queued request' })
    responses[1]()
    await until(() => asked.every((one) => one.closed()))
    expect(asked.map((one) => one.status())).toEqual([200, 200])
    expect(cap.limiter.count()).toBe(0)
  })

  test('a delayed request is answered after its delay', async () => {
    const clock = new FakeClock()
    const slow = framework.slowDown({ after: 0, window: '1m', delayMs: '1s', maxDelayMs: '1s', clock })
    await serve((_req, res) => res.end('ok'), slow)
    const asked = ask()
    await until(() => slow.waiting() === 1, { what: 'a delayed request' })
    clock.advance(1_000)
    await until(() => asked.closed(), { what: 'the end of the response' })
    expect([asked.status(), slow.waiting()]).toEqual([200, 0])
  })

  test('failures are counted, and banned', async () => {
    await serve(failing, framework.rateLimit({ limit: 2, window: '1m', countOnly: 'failures', clock: new FakeClock() }))
    expect([await askAndWait(), await askAndWait(), await askAndWait()]).toEqual([401, 401, 429])
  })

  test('clients with too many failures are banned', async () => {
    const ban = { after: 2, within: '1m', for: '1m', strikes: 'failures' } as const
    await serve(failing, framework.rateLimit({ limit: 9, window: '1m', ban, clock: new FakeClock() }))
    expect([await askAndWait(), await askAndWait(), await askAndWait()]).toEqual([401, 401, 429])
  })

  test('costs are settled once, at the end of the response, and an aborted response is incomplete', async () => {
    const settled: (readonly [completed: boolean, status: number | undefined])[] = []
    const settle = (_req: unknown, _res: unknown, how: { completed: boolean; status?: number | undefined }): number => {
      settled.push([how.completed, how.status])
      return 1
    }
    const responses: (() => void)[] = []
    const limit = framework.rateLimit({
      limit: 9,
      window: '1m',
      key: () => 'all',
      cost: { reserve: 1, settle, settleOn: 'always' },
    })
    await serve((_req, res) => responses.push(() => res.end('ok')), limit)
    const answered = ask()
    await until(() => entered === 1)
    expect(settled).toEqual([])
    responses[0]()
    await until(() => answered.closed() && settled.length === 1)
    expect(settled).toEqual([[true, 200]])
    const left = ask()
    await until(() => entered === 2)
    left.leave()
    await until(() => settled.length === 2)
    responses[1]()
    await limit.idle()
    expect(settled.map(([completed]) => completed)).toEqual([true, false])
  })

  test('a handler that waits for the close of its response does not wait forever if the client leaves', async () => {
    const watcher = new Watcher()
    let closes = 0
    const cap = framework.inflightLimit({ limit: 1, observers: [watcher] })
    const waiting = counted(async (_req, res) => {
      await once(res, 'close')
      closes++
    })
    await listen(cap.wrap(waiting) as Step)
    const asked = ask()
    await until(() => entered === 1)
    asked.leave()
    await until(() => closes === 1 && watcher.held === 0, { what: 'the close of the response' })
  })
})
