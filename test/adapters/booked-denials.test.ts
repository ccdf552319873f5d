import type { RequestListener } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { rateLimit as expressLimit } from '@sluice/express'
import { sluice } from '@sluice/fastify'
import { rateLimit as fetchLimit } from '@sluice/fetch'
import { rateLimit as koaLimit } from '@sluice/koa'
import { rateLimit as nodeLimit } from '@sluice/node-http'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import { fastify } from 'fastify'
import Koa from 'koa'
import { running } from './running-app.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Sends a request with the key and the cost in its headers. */
type Send = (key: string, cost: number) => Promise<Pick<Response, 'status' | 'headers'>>

interface Options {
  readonly limit: number
  readonly window: '10s' | '1w'
  readonly clock: FakeClock
}

const settings = { retry: 'booked', headers: ['draft', 'legacy'] } as const
const costOf = (value: unknown): number => Number(value ?? 1)

function sendTo(port: number): Send {
  return (key, cost) => fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-key': key, 'x-cost': `${cost}` } })
}

async function listening(listener: RequestListener): Promise<Send> {
  const server = await running(listener)
  ends.push(() => server.close())
  return sendTo(server.port)
}

const apps: Readonly<Record<string, (options: Options) => Promise<Send>>> = {
  express: (options) => {
    const limit = expressLimit({
      ...{ ...settings, ...options },
      key: (req) => `${req.headers['x-key']}`,
      cost: (req) => costOf(req.headers['x-cost']),
    })
    return listening(express().use(limit, (_req, res) => void res.end('ok')))
  },
  koa: (options) => {
    const app = new Koa()
    app.use(
      koaLimit({
        ...{ ...settings, ...options },
        key: (ctx) => `${ctx.headers['x-key']}`,
        cost: (ctx) => costOf(ctx.headers['x-cost']),
      }),
    )
    app.use((ctx) => {
      ctx.body = 'ok'
    })
    return listening(app.callback())
  },
  fastify: async (options) => {
    const app = fastify()
    await app.register(sluice, {
      rateLimit: {
        ...{ ...settings, ...options },
        key: (request) => `${request.headers['x-key']}`,
        cost: (request) => costOf(request.headers['x-cost']),
      },
    })
    app.get('/', () => 'ok')
    await app.listen({ port: 0, host: '127.0.0.1' })
    ends.push(() => app.close())
    return sendTo((app.server.address() as { port: number }).port)
  },
  'node:http': (options) => {
    const limit = nodeLimit({
      ...{ ...settings, ...options },
      key: (req) => `${req.headers['x-key']}`,
      cost: (req) => costOf(req.headers['x-cost']),
    })
    return listening(limit.wrap((_req, res) => void res.end('ok')))
  },
  fetch: async (options) => {
    const limit = fetchLimit({
      ...{ ...settings, ...options },
      key: (request) => `${request.headers.get('x-key')}`,
      cost: (request) => costOf(request.headers.get('x-cost')),
    })
    const handle = limit.wrap(() => new Response('ok'))
    return async (key, cost) =>
      handle(new Request('http://127.0.0.1/', { headers: { 'x-key': key, 'x-cost': `${cost}` } }))
  },
}

// keys of the prototype of objects, of other counts, and of turns
const KEYS = ['__proto__', 'constructor', 'a/booked', '{a}:turns', `k${'x'.repeat(4_000)}`, '%00%ff', '"; r=99']

test.each(Object.keys(apps))('booked denials have whole seconds that an obedient client can wait: %s', async (name) => {
  const clock = new FakeClock({ nowMs: 1e6 })
  const send = await apps[name]({ limit: 4, window: '10s', clock })
  for (const key of KEYS) {
    const waits: number[] = []
    for (const cost of [4, 1, 2, 4, 3, 1, 1]) {
      const { status, headers } = await send(key, cost)
      if (status === 200) continue
      expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)])
      const seconds = Number(headers.get('retry-after'))
      expect(headers.get('ratelimit')).toBe(`"default";r=0;t=${seconds}`)
      expect(Number(headers.get('x-ratelimit-remaining'))).toBe(0)
      waits.push(seconds)
    }
    expect(waits).toHaveLength(6)
    // in the order of the requests, and at most ten limits
    expect(waits).toEqual(waits.toSorted((a, b) => a - b))
    expect(waits.at(-1)).toBeLessThanOrEqual(10 * 12)
  }
  // each first client of a key is admitted at its time
  clock.advance(10_000)
  for (const key of KEYS) expect((await send(key, 1)).status).toBe(200)
})

test.each(Object.keys(apps))('a cost that never fits, and a queue of ten weeks: %s', async (name) => {
  const clock = new FakeClock({ nowMs: 1e6 })
  const send = await apps[name]({ limit: 1, window: '1w', clock })
  const statuses: number[] = []
  let last = 0
  for (let times = 0; times < 14; times++) {
    const { status, headers } = await send('a', 1)
    statuses.push(status)
    last = Number(headers.get('retry-after') ?? 0)
  }
  expect(statuses).toEqual([200, ...Array(13).fill(429)])
  expect([last > 10 * 604_800, last < 11 * 604_801 + 20]).toEqual([true, true])
  const { status, headers } = await send('a', 2)
  expect([status, headers.get('retry-after') ?? '1']).toEqual([429, expect.stringMatching(/^\d+$/)])
})
