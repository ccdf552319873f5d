import { PassThrough, Readable } from 'node:stream'
import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { type FastifyInstance, fastify } from 'fastify'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { GET } from '../raw-client.ts'
import { type FastifyHandler, FastifySite } from './fastify-site.ts'

describe.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4],
])('the plugin of %s releases a permit, exactly once,', (_name, make) => {
  let site: FastifySite
  const serve = async (
    handler: FastifyHandler,
    cap: object = {},
    options: object = {},
    before: object = {},
  ): Promise<FastifySite> => {
    site = await new FastifySite(make(options) as FastifyInstance).open(handler, cap, before)
    return site
  }
  afterEach(() => site.close())

  const answers: Readonly<Record<string, FastifyHandler>> = {
    'returns a value': async () => ({ ok: true }),
    'sends a value later': (_request, reply) => void setImmediate(() => reply.send('ok')),
    'sends a stream': (_request, reply) => reply.send(Readable.from(['a', 'b'])),
    throws: () => {
      throw new Error('a fault of the application')
    },
    rejects: async () => Promise.reject(new Error('a fault of the application')),
    'sends a stream that fails at once': (_request, reply) =>
      reply.send(
        new Readable({
          read() {
            this.destroy(new Error('disk'))
          },
        }),
      ),
    'hijacks the reply and ends it': (_request, reply) => {
      reply.hijack()
      reply.raw.end('ok')
    },
  }
  test.each(Object.entries(answers))('when the handler %s', async (_how, handler) => {
    await serve(handler)
    const client = await site.entering()
    await client.hears('HTTP/1.1 ')
    await site.released(1)
  })

  test('when the client disconnects during a stream, which also destroys its source', async () => {
    const source = new PassThrough()
    await serve((_request, reply) => reply.send(source))
    const client = await site.entering()
    source.write('a part')
    await client.hears('a part')
    expect(site.watcher.held).toBe(1)
    client.leave()
    await site.released(1)
    await until(() => source.destroyed)
  })

  test('when the source of a stream fails in the middle', async () => {
    const source = new PassThrough()
    await serve((_request, reply) => reply.send(source))
    const client = await site.entering()
    source.write('a part')
    await client.hears('a part')
    expect(site.watcher.held).toBe(1)
    source.destroy(new Error('disk'))
    await site.released(1)
    await client.closed()
  })

  test('when the client disconnects from a handler that hijacked the reply and never ends it', async () => {
    await serve((_request, reply) => void reply.hijack())
    const client = await site.entering()
    expect(site.watcher.held).toBe(1)
    client.leave()
    await site.released(1)
  })

  test('when a connection times out although its handler never settles', async () => {
    await serve(
      ({ raw }) => {
        // not sooner: on a busy machine the connection could end before its request arrives
        raw.socket.setTimeout(10)
        return new Promise(() => {})
      },
      {},
      { connectionTimeout: 60_000 },
    )
    const client = await site.entering()
    await client.closed()
    await site.released(1)
  })

  test('when the client disconnects during a hook after the cap, and the handler still runs', async () => {
    let goOn = (): void => {}
    let waits = 0
    const preHandler = (_request: unknown, _reply: unknown, done: () => void): void => {
      waits++
      goOn = done
    }
    await serve(async () => 'ok', {}, {}, { preHandler })
    const client = await site.client()
    await until(() => waits === 1)
    client.leave()
    await site.released(1)
    goOn()
    expect(site.entered).toBe(1)
  })

  test("before a handler that waits in a hook, and which then does not run with holdUntil: 'handler'", async () => {
    let goOn = (): void => {}
    let waits = 0
    const preHandler = (_request: unknown, _reply: unknown, done: () => void): void => {
      waits++
      goOn = done
    }
    await serve(async () => 'ok', { limit: 1, holdUntil: 'handler' }, {}, { preHandler })
    const client = await site.client()
    await until(() => waits === 1)
    client.leave()
    await site.released(1)
    goOn()
    expect(site.entered).toBe(0)
  })

  test("under a flood of disconnecting clients, and runs no more handlers than permits with holdUntil: 'handler'", async () => {
    let [running, most] = [0, 0]
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    await serve(
      async () => {
        most = Math.max(most, ++running)
        await finished
        running--
      },
      { limit: 2, holdUntil: 'handler' },
    )
    const { watcher } = site
    for (let sent = 1; sent <= 40; sent++) {
      const client = await site.client()
      await until(() => watcher.acquired + watcher.denied === sent)
      client.leave()
      await client.closed()
    }
    expect([most, watcher.denied, watcher.held]).toEqual([2, 38, 2])
    finish()
    await site.released(2)
  })
})

test('Fastify 5 releases a permit when the handler timeout expires, even if the handler never settles', async () => {
  const site = await new FastifySite(fastify({ handlerTimeout: 20 })).open(() => new Promise(() => {}))
  const client = await site.entering()
  for (const times of [1, 2]) {
    await client.hears('HTTP/1.1 503', times)
    await site.released(times)
    if (times === 1) client.send(GET)
  }
  await site.close()
})
