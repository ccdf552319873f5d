import { createReadStream } from 'node:fs'
import { PassThrough, Readable } from 'node:stream'
import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import Koa, { type Middleware } from 'koa'
import { Koa2 } from '../../adapters/koa/koa2.ts'
import { type CappedOptions, CappedServer } from '../capped-server.ts'
import { GET } from '../raw-client.ts'
import { koaWith } from './koa-framework.ts'

const OK = 'HTTP/1.1 200 OK'
const HEAD = 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n'
const FLOOD = 40

const body =
  (make: () => unknown): Middleware =>
  (ctx) => {
    ctx.body = make()
  }
const tenParts = (): Readable => Readable.from(Array.from({ length: 10 }, (_, part) => `part ${part},`))

describe.each([
  ['Koa 3', Koa],
  ['Koa 2', Koa2],
])('%s', (name, make) => {
  let capped: CappedServer
  const serve = async (answer: Middleware, options?: CappedOptions): Promise<CappedServer> => {
    capped = await CappedServer.of(koaWith(make, answer), () => {}, options)
    return capped
  }
  afterEach(() => capped.close())

  describe.each<[string, CappedOptions]>([
    ['until the response is over', {}],
    ['until the handler is done, too,', { cap: { holdUntil: 'handler' } }],
    ['around the handler', { wrapped: true }],
  ])('with a cap that holds %s releases a permit, exactly once,', (_how, options) => {
    test.each<[string, Middleware, string]>([
      ['text', body(() => 'ok'), OK],
      ['JSON', body(() => ({ ok: true })), OK],
      ['a stream', body(tenParts), 'part 9,'],
      ['null', body(() => null), 'HTTP/1.1 204 No Content'],
      ['nothing', () => {}, 'HTTP/1.1 404 Not Found'],
      ['ctx.throw', (ctx) => ctx.throw(418), 'HTTP/1.1 418'],
      ['an error', () => Promise.reject(new Error('a fault')), 'HTTP/1.1 500'],
      ['raw bytes', (ctx) => void Object.assign(ctx, { respond: false }).res.writeHead(200).end(), OK],
    ])('after a response by %s', async (_what, answer, heard) => {
      await serve(answer, options)
      const client = await capped.entering(GET)
      await client.hears(heard)
      await capped.allReleased(1)
      expect(client.socket.destroyed).toBe(false)
    })

    test('of HEAD, whose body is a stream that is never read', async () => {
      await serve(body(tenParts), options)
      const client = await capped.entering(HEAD)
      await client.hears(OK)
      await capped.allReleased(1)
    })

    test('when the client disconnects during a body that is a stream', async () => {
      const source = new PassThrough()
      source.write('a part')
      await serve(
        body(() => source),
        options,
      )
      const client = await capped.entering(GET)
      await client.hears('a part')
      expect(capped.watcher.held).toBe(1)
      client.leave()
      await capped.allReleased(1)
      expect(source.destroyed).toBe(true)
    })

    test('when the source of the body fails before its first byte', async () => {
      await serve(
        body(() => createReadStream('/no/such/file')),
        options,
      )
      await capped.entering(GET)
      await capped.allReleased(1)
    })

    test('when the source of the body fails in the middle', async () => {
      const source = new PassThrough()
      source.write('a part')
      await serve(
        body(() => source),
        options,
      )
      const client = await capped.entering(GET)
      await client.hears('a part')
      source.destroy(new Error('disk'))
      // Koa 2 leaves such a response open, and its permit is held until the client disconnects
      if (name === 'Koa 2') client.leave()
      await capped.allReleased(1)
      await client.closed()
    })
  })

  test('releases the permit of a handler that never settles when the request timeout of the server expires', async () => {
    await serve((ctx) => {
      ctx.req.socket.setTimeout(10)
      return new Promise<never>(() => {})
    })
    const client = await capped.entering(GET)
    await client.closed()
    await capped.allReleased(1)
  })

  test('releases the permit of a handler that settles after its client has disconnected', async () => {
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    await serve(() => finished, { cap: { holdUntil: 'handler' } })
    const client = await capped.entering(GET)
    client.leave()
    await capped.quiet()
    expect(capped.watcher.held).toBe(1)
    finish()
    await capped.allReleased(1)
  })

  test('runs no more handlers than permits under a flood of disconnecting clients, with only holdUntil set', async () => {
    let running = 0
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const slow: Middleware = async () => {
      running++
      await finished
    }
    const { watcher } = await serve(slow, { cap: { limit: 2, holdUntil: 'handler' } })
    for (let sent = 1; sent <= FLOOD; sent++) {
      const client = await capped.client()
      client.send(GET)
      await until(() => watcher.acquired + watcher.denied === sent)
      client.leave()
      await client.closed()
    }
    expect([running, watcher.denied, watcher.held]).toEqual([2, FLOOD - 2, 2])
    finish()
    await capped.allReleased(2)
  })
})
