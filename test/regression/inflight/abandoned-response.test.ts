import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { afterEach, describe, expect, test } from '@jest/globals'
import { inflightLimit, sluice } from '@sluice/fastify'
import { until, Watcher } from '@sluice/testkit'
import { type FastifyInstance, fastify } from 'fastify'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { CappedServer } from '../../leaks/capped-server.ts'
import type { FastifyHandler } from '../../leaks/frameworks/fastify-site.ts'
import type { Handler } from '../../leaks/frameworks/framework.ts'
import { frameworks } from '../../leaks/frameworks/frameworks.ts'
import { RawClient } from '../../leaks/raw-client.ts'

/** Connections that pipeline two requests each, which together fill the cap. */
const CONNECTIONS = 4
const LIMIT = 2 * CONNECTIONS

const PIPELINED = ['/slow', '/export'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')

const isFirst = (req: IncomingMessage): boolean => req.url === '/slow'

/** Operations of a handler that only the end of its response can settle. */
const waits: Readonly<Record<string, (res: ServerResponse) => Promise<unknown>>> = {
  'pipes a source into it': (res) => pipeline(new PassThrough(), res),
  'waits until it is finished': (res) => finished(res),
}

describe.each(Object.entries(frameworks))('%s', (_name, framework) => {
  let capped: CappedServer
  afterEach(() => capped.close())

  const abandon = async (handler: Handler): Promise<void> => {
    capped = await CappedServer.of(framework, (req, res) => (isFirst(req) ? once(res, 'close') : handler(req, res)), {
      cap: { limit: LIMIT },
      wrapped: true,
    })
    for (let sent = 1; sent <= CONNECTIONS; sent++) {
      const client = await capped.client()
      client.send(PIPELINED)
      await until(() => capped.entered === 2 * sent, { what: 'both requests to reach the handler' })
    }
    expect(capped.watcher.held).toBe(LIMIT)
    for (const client of capped.clients) client.leave()
    await capped.quiet()
  }

  test.each(Object.entries(waits))('releases the permit of a handler that %s', async (_how, wait) => {
    await abandon((_req, res) => wait(res).catch(() => {}))
    await capped.allReleased(LIMIT)
  })

  test.each(Object.entries(waits))('even if it %s after the client has disconnected', async (_how, wait) => {
    let goOn = (): void => {}
    const left = new Promise<void>((resolve) => {
      goOn = resolve
    })
    await abandon((_req, res) => left.then(() => wait(res)).catch(() => {}))
    goOn()
    await capped.allReleased(LIMIT)
  })

  test('emits close on the response once', async () => {
    let closes = 0
    await abandon((_req, res) => void res.on('close', () => closes++))
    await capped.allReleased(LIMIT)
    expect(closes).toBe(CONNECTIONS)
  })
})

describe.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4],
])('%s', (_name, make) => {
  let app: FastifyInstance
  afterEach(() => app.close())

  const serve = async (handler: FastifyHandler, wrapped: boolean): Promise<Watcher> => {
    const watcher = new Watcher()
    app = make() as unknown as FastifyInstance
    const cap = { limit: LIMIT, observers: [watcher], holdUntil: 'handler' as const }
    if (!wrapped) await app.register(sluice, { inflightLimit: cap })
    const answer: FastifyHandler = (request, reply) =>
      isFirst(request.raw) ? once(reply.raw, 'close') : handler(request, reply)
    app.get('/*', wrapped ? inflightLimit(cap).wrap(answer) : answer)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return watcher
  }

  const answers: Readonly<Record<string, FastifyHandler>> = {
    'returns a reply that sends a stream': (_request, reply) => reply.send(new PassThrough()),
    'returns a reply that it never sends': (_request, reply) => reply,
    'awaits its reply': async (_request, reply) => {
      await reply.send(new PassThrough())
    },
  }
  for (const wrapped of [true, false]) {
    const how = wrapped ? 'behind .wrap' : 'behind the plugin'
    test.each(Object.entries(answers))(`releases the permit ${how} of a handler that %s`, async (_what, handler) => {
      const watcher = await serve(handler, wrapped)
      const { port } = app.server.address() as AddressInfo
      const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawClient.to(port)))
      for (const client of clients) client.send(PIPELINED)
      await until(() => watcher.held === LIMIT, { what: 'the cap to be full' })
      for (const client of clients) client.leave()
      await until(() => watcher.held === 0, { what: 'held places to come back' })
      expect([watcher.acquired, watcher.released]).toEqual([LIMIT, LIMIT])
    })
  }
})
