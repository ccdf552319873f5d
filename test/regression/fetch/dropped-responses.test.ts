import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, test } from '@jest/globals'
import { inflightLimit as cappedFetch, type FetchInfo } from '@sluice/fetch'
import { createSluice, inflightLimit } from '@sluice/hono'
import { FakeClock } from '@sluice/testkit'
import { Hono, type MiddlewareHandler } from 'hono'
import { etag } from 'hono/etag'
import { running } from '../../adapters/running-app.ts'
import { eventually } from '../../services/eventually.ts'

const URL_OF_API = 'http://localhost/'

/** Middleware that does not send the response which the cap behind it has seen. */
const outer: Readonly<Record<string, MiddlewareHandler>> = {
  'throws after next()': async (_c, next) => {
    await next()
    throw new Error('late')
  },
  'replaces c.res': async (c, next) => {
    await next()
    c.res = c.json({ replaced: true })
  },
  'replaces c.res by a response without a body': async (c, next) => {
    await next()
    c.res = undefined
    c.res = new Response(null, { status: 204 })
  },
  'cancels the body and replaces c.res': async (c, next) => {
    await next()
    const { body } = c.res
    c.res = c.json({ replaced: true })
    await body?.cancel()
  },
  'answers 304': etag(),
}

function application(middleware: MiddlewareHandler) {
  const cap = inflightLimit({ name: 'all', limit: 1 })
  const app = new Hono()
  app.use(middleware, cap)
  app.get('/', (c) => c.text('hello'))
  app.onError((_error, c) => c.text('failed', 500))
  return { app, cap }
}

/** ETag of the response of the application, so that the middleware answers 304. */
const init = { headers: { 'if-none-match': '"aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"' } }

describe('a place of Hono is released after middleware outside of the cap', () => {
  test.each(Object.entries(outer))('%s, on @hono/node-server', async (_what, middleware) => {
    const { app, cap } = application(middleware)
    const { port, close } = await running(getRequestListener(app.fetch))
    for (let time = 0; time < 3; time++) {
      const response = await fetch(`http://127.0.0.1:${port}/`, init)
      expect(response.status).not.toBe(503)
      await response.text()
      await eventually(async () => cap.limiter.count() === 0, { timeoutMs: 10_000, what: 'the release of the place' })
    }
    await close()
  })

  test.each(Object.entries(outer))('%s, without a server', async (_what, middleware) => {
    const { app, cap } = application(middleware)
    for (let time = 0; time < 3; time++) {
      const response = await app.request('/', init)
      expect(response.status).not.toBe(503)
      await response.text()
      expect(cap.limiter.count()).toBe(0)
    }
  })

  test('holds its place while the client reads the response that replaced another one', async () => {
    const { app, cap } = application(outer['replaces c.res'])
    const response = await app.request('/')
    expect(cap.limiter.count()).toBe(1)
    expect(await response.json()).toEqual({ replaced: true })
    expect(cap.limiter.count()).toBe(0)
  })
})

describe('a cost is settled with the status of the response that was sent', () => {
  test.each(['a server', 'no server'])('by %s', async (host) => {
    const settled: unknown[] = []
    const { rateLimit } = createSluice({ clock: new FakeClock() })
    const settle = (_c: unknown, _reply: unknown, how: { completed: boolean; status?: number | undefined }) => {
      settled.push([how.completed, how.status])
      return 2
    }
    const app = new Hono()
    app.use(outer['throws after next()'])
    app.use(rateLimit({ limit: 10, window: '1m', key: () => 'all', cost: { reserve: 3, settle } }))
    app.get('/', (c) => c.text('hello'))
    app.onError((_error, c) => c.text('failed', 500))
    if (host === 'a server') {
      const { port, close } = await running(getRequestListener(app.fetch))
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('failed')
      await close()
    } else expect(await (await app.request('/')).text()).toBe('failed')
    await eventually(async () => settled.length > 0, { timeoutMs: 10_000, what: 'the settlement' })
    expect(settled).toEqual([[true, 500]])
  })
})

describe('a fetch handler whose response is dropped by its caller', () => {
  const dropping = (info?: FetchInfo) => {
    const cap = cappedFetch({ name: 'all', limit: 1 })
    const handler = cap.wrap((_request: Request) => new Response('hello'))
    const answer = async (more?: FetchInfo) => {
      await (handler as (request: Request, info?: FetchInfo) => unknown)(new Request(URL_OF_API), more ?? info)
      return new Response('another one')
    }
    return { cap, answer }
  }

  test('releases its place when Node.js has sent the response', async () => {
    const { cap, answer } = dropping()
    const { port, close } = await running(getRequestListener((_request, env) => answer(env as FetchInfo)))
    for (let time = 0; time < 3; time++) {
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('another one')
      await eventually(async () => cap.limiter.count() === 0, { timeoutMs: 10_000, what: 'the release of the place' })
    }
    await close()
  })

  test.each(['resolves', 'rejects'])('releases its place when `completed` of Deno %s', async (how) => {
    let sent: () => void = () => {}
    const completed = new Promise<void>((resolve, reject) => {
      sent = () => (how === 'resolves' ? resolve() : reject(new Error('the connection was closed')))
    })
    const { cap, answer } = dropping({ completed })
    await answer()
    expect(cap.limiter.count()).toBe(1)
    sent()
    await completed.catch(() => {})
    await Promise.resolve()
    expect(cap.limiter.count()).toBe(0)
  })

  test('releases its place after garbage collection on other hosts', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { cap, answer } = dropping()
    await answer()
    expect(cap.limiter.count()).toBe(1)
    const isReleased = async () => {
      collect()
      return cap.limiter.count() === 0
    }
    await eventually(isReleased, { timeoutMs: 10_000, what: 'the release of the place' })
  })
})
