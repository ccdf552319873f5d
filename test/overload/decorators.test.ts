import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { InflightLimit as ExpressLimit } from '@sluice/express'
import { InflightLimit as FastifyLimit } from '@sluice/fastify'
import { InflightLimit as KoaLimit } from '@sluice/koa'
import { InflightLimit as NodeLimit } from '@sluice/node-http'
import { FakeClock, until } from '@sluice/testkit'
import express from 'express'
import { fastify } from 'fastify'
import Koa from 'koa'
import { close, listen, type Running } from './listening.ts'

type Work = () => Promise<string>
type Decorate = (options: never) => (target: object, name: string, descriptor: PropertyDescriptor) => unknown
type Listener = (req: IncomingMessage, res: ServerResponse) => unknown

/** Returns a method behind the decorator, as TypeScript calls it under `experimentalDecorators`. */
function decorated<Method>(decorator: unknown, options: object, method: Method): Method {
  const descriptor = { value: method, writable: true, configurable: true }
  const limited = (decorator as Decorate)(options as never)({}, 'work', descriptor) as { readonly value: Method }
  return limited.value
}

const frameworks: Readonly<Record<string, (options: object, work: Work) => Promise<Listener> | Listener>> = {
  'node:http': (options, work) =>
    decorated(NodeLimit, options, async (_req: IncomingMessage, res: ServerResponse) => res.end(await work())),
  Express: (options, work) =>
    express().get(
      '/',
      decorated(ExpressLimit, options, async (_req: express.Request, res: express.Response) => {
        res.send(await work())
      }),
    ),
  Koa: (options, work) =>
    new Koa()
      .use(
        decorated(KoaLimit, options, async (ctx: Koa.Context) => {
          ctx.body = await work()
        }),
      )
      .callback(),
  Fastify: async (options, work) => {
    const app = fastify()
    app.get(
      '/',
      decorated(FastifyLimit, options, async () => work()),
    )
    await app.ready()
    return (req, res) => app.routing(req, res)
  },
}

let running: Running | undefined
afterEach(async () => {
  if (running) await close(running)
})

test.each(Object.entries(frameworks))(
  '@InflightLimit on %s serves the most important request that waits, and none whose time is over',
  async (_name, build) => {
    const clock = new FakeClock()
    const works: (() => void)[] = []
    let received = 0
    const options = {
      limit: 1,
      priority: { header: 'x-priority' },
      queue: { max: 9, maxWaitMs: '10s' },
      skip: () => ++received < 0,
      clock,
    }
    running = await listen(await build(options, () => new Promise((resolve) => works.push(() => resolve('done')))))
    const { url } = running
    const statuses: Record<string, number> = {}
    const sent: Promise<void>[] = []
    for (const [index, priority] of ['normal', 'low', 'critical', 'normal'].entries()) {
      const answer = fetch(url, { headers: { 'x-priority': priority } })
      sent.push(
        answer.then(({ status }) => {
          statuses[`${index} ${priority}`] = status
        }),
      )
      await until(() => received === index + 1)
    }
    works[0]()
    await until(() => works.length === 2)
    clock.advance(10_000)
    await until(() => Object.keys(statuses).length === 3)
    expect(statuses).toEqual({ '0 normal': 200, '1 low': 503, '3 normal': 503 })
    works[1]()
    await Promise.all(sent)
    expect([statuses['2 critical'], works.length, clock.pending]).toEqual([200, 2, 0])
  },
)
