import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2'
import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import type { Handler } from './framework.ts'
import { frameworks } from './frameworks.ts'
import { Http2Site, overHttp2 } from './http2-site.ts'

const hang: Handler = () => {}

/** Routes of the site, for every framework. */
type Served = ConstructorParameters<typeof Http2Site> extends [framework: unknown, ...rest: infer Rest] ? Rest : never

describe.each(overHttp2)('%s over HTTP/2 releases a permit, exactly once,', (name) => {
  let site: Http2Site
  const serve = async (...served: Served): Promise<Http2Site> => {
    site = await new Http2Site(frameworks[name], ...served).open()
    return site
  }
  const entering = async (...asked: Parameters<Http2Site['ask']>): Promise<ClientHttp2Stream> => {
    const { entered } = site
    const stream = site.ask(...asked)
    await until(() => site.entered > entered)
    return stream
  }
  afterEach(() => site.close())

  test('after each answered request', async () => {
    await serve((_req, res) => res.end('ok'))
    for (const times of [1, 2, 3]) {
      await once(site.ask(), 'end')
      await site.released(times)
    }
    expect(site.completed).toEqual([true, true, true])
  })

  test('when the client resets the stream, which makes the response incomplete', async () => {
    await serve(hang)
    const stream = await entering()
    stream.close(constants.NGHTTP2_CANCEL)
    await site.released(1)
    expect(site.completed).toEqual([false])
  })

  test('when the client resets the stream in the middle of its upload', async () => {
    await serve((req, res) => req.resume().on('end', () => res.end()))
    const stream = await entering({ ':method': 'POST' }, false)
    stream.write('a part')
    stream.close(constants.NGHTTP2_CANCEL)
    await site.released(1)
  })

  test('when the server resets the stream', async () => {
    await serve((_req, res) => {
      ;(res as unknown as { stream: ClientHttp2Stream }).stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    })
    await entering()
    await site.released(1)
  })

  test('when the client destroys the session', async () => {
    await serve(hang)
    await entering()
    await entering()
    site.session.destroy()
    await site.released(2)
  })

  test('when the session closes once its streams are done', async () => {
    await serve((_req, res) => setImmediate(() => res.end('ok')))
    const stream = await entering()
    site.session.close()
    await until(() => stream.readableEnded)
    await site.released(1)
  })

  test('for each of 50 streams that are reset at once', async () => {
    await serve(hang)
    for (let sent = 0; sent < 50; sent++) {
      const stream = site.ask()
      setImmediate(() => stream.close(constants.NGHTTP2_CANCEL))
    }
    await until(() => site.working === 50)
    await site.released(site.watcher.acquired)
    expect(site.watcher.acquired).toBeGreaterThan(0)
  })

  test.each<[string, (stream: ClientHttp2Stream, session: ClientHttp2Session) => unknown]>([
    ['reset the stream', (stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ['destroyed the session', (_stream, session) => session.destroy()],
  ])('or takes no permit if the client %s during async work before the cap', async (_what, leave) => {
    let goOn = (): void => {}
    const left = new Promise<void>((resolve) => {
      goOn = resolve
    })
    await serve(hang, () => left)
    const closed: boolean[] = []
    site.server.on('stream', (stream) => stream.once('close', () => closed.push(true)))
    const stream = site.ask()
    await until(() => site.working === 1)
    leave(stream, site.session)
    await until(() => closed.length === 1)
    goOn()
    await until(() => site.completed.length === 1)
    await site.released(0)
    expect([site.entered, site.completed]).toEqual([0, [false]])
  })
})
