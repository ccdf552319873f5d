import { PassThrough } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { inflightLimit, rateLimit } from '@sluice/koa'
import { until, Warnings } from '@sluice/testkit'
import type Koa from 'koa'
import type { Middleware } from 'koa'
import request from 'supertest'

const once = { limit: 1, window: '1m', algorithm: 'fixed-window' } as const
const PROBLEM = 'application/problem+json'
const ok: Middleware = (ctx) => {
  ctx.body = 'ok'
}

/** How denials and errors work with Koa's way of responding. */
export function koaAnswers(make: typeof Koa): void {
  describe('a denial', () => denials(make))
  describe('an error of the application behind a limiter', () => errors(make))
}

/** Returns the second response of an application whose limit is one request. */
async function denied(app: Koa, method: 'get' | 'head' = 'get'): Promise<request.Response> {
  const callback = app.callback()
  await request(callback).get('/')
  return request(callback)[method]('/')
}

function denials(Make: typeof Koa): void {
  test('is not reported as an error of the application', async () => {
    const heard: unknown[] = []
    const app = new Make().use(rateLimit(once)).use(ok)
    app.on('error', (error) => heard.push(error))
    const { status, headers, body } = await denied(app)
    expect([status, headers['content-type'], body.status, heard]).toEqual([429, PROBLEM, 429, []])
  })

  test.each<[string, Middleware]>([
    ['text', ok],
    [
      'JSON',
      (ctx) => {
        ctx.body = { all: 'is well' }
      },
    ],
    [
      'nothing, with a status',
      (ctx) => {
        ctx.status = 204
      },
    ],
    [
      'a type and a length',
      (ctx) => {
        ctx.type = 'html'
        ctx.length = 3
      },
    ],
  ])('replaces the response of an earlier middleware: %s', async (_what, answer) => {
    const app = new Make()
    app.use(async (ctx, next) => {
      await answer(ctx, next)
      return next()
    })
    app.use(rateLimit(once))
    const { status, headers, body } = await denied(app)
    expect([status, headers['content-type'], headers['content-length']]).toEqual([429, PROBLEM, '143'])
    expect(body.title).toBe('Quota Exceeded')
  })

  test('replaces a stream, which is destroyed', async () => {
    const streams: PassThrough[] = []
    const app = new Make()
    app.use((ctx, next) => {
      streams.push(new PassThrough().end('a part'))
      ctx.body = streams.at(-1)
      return next()
    })
    app.use(rateLimit(once)).use(ok)
    const { status, text } = await denied(app)
    expect([status, JSON.parse(text).status]).toEqual([429, 429])
    await until(() => streams.every(({ destroyed }) => destroyed))
  })

  test.each(['get', 'head'] as const)('of %s is sent even if `ctx.respond` is false', async (method) => {
    const app = new Make()
    app.use((ctx, next) => {
      ctx.respond = false
      return next()
    })
    app.use(rateLimit(once))
    app.use((ctx) => {
      ctx.res.end('raw')
    })
    const { status, headers, text } = await denied(app, method)
    expect([status, headers['content-type'], headers['content-length']]).toEqual([429, PROBLEM, '143'])
    expect(text?.length ?? 0).toBe(method === 'get' ? 143 : 0)
  })

  test('of HEAD has the length of the body that is not sent', async () => {
    const { status, headers, text } = await denied(new Make().use(rateLimit(once)).use(ok), 'head')
    expect([status, headers['content-length'], text]).toEqual([429, '143', undefined])
  })

  test.each<[string, (ctx: Koa.Context) => unknown]>([
    [
      'a body',
      (ctx) => {
        ctx.body = 'slow down'
      },
    ],
    [
      'a promise of a body',
      async (ctx) => {
        await new Promise(setImmediate)
        ctx.body = 'slow down'
      },
    ],
  ])('may have a custom response, in the style of Koa: %s', async (_what, answer) => {
    const app = new Make().use(rateLimit({ ...once, denied: answer })).use(ok)
    const { status, text, headers } = await denied(app)
    expect([status, text, headers['retry-after']]).toEqual([429, 'slow down', '60'])
  })

  test('has the response of an error that the custom one throws with ctx.throw', async () => {
    const app = new Make().use(rateLimit({ ...once, denied: (ctx) => ctx.throw(403, 'no') })).use(ok)
    app.silent = true
    const warnings = new Warnings()
    warnings.listen()
    const { status, text } = await denied(app).finally(() => warnings.stop())
    expect([status, text]).toEqual([403, 'no'])
    expect(warnings.codes).toEqual([])
  })
}

function errors(Make: typeof Koa): void {
  const failing: Middleware = (ctx) => ctx.throw(418, 'short and stout')
  const silent = (): Koa => {
    const app = new Make()
    app.silent = true
    return app
  }

  test('is answered by Koa, which removes every header, and the request is counted', async () => {
    const app = silent().use(rateLimit({ ...once, limit: 2 }))
    app.use(failing)
    const { status, text, headers } = await denied(app)
    expect([status, text, headers.ratelimit]).toEqual([418, 'short and stout', undefined])
    const after = await request(app.callback()).get('/')
    expect([after.status, after.headers.ratelimit]).toEqual([429, '"default";r=0;t=60'])
  })

  test('keeps the headers if a middleware of the application answers it', async () => {
    const app = silent()
    app.use(async (ctx, next) => {
      try {
        await next()
      } catch (error) {
        ctx.status = (error as { status: number }).status
        ctx.body = 'told by the application'
      }
    })
    app.use(rateLimit(once)).use(failing)
    const { status, text, headers } = await request(app.callback()).get('/')
    expect([status, text]).toEqual([418, 'told by the application'])
    expect(headers.ratelimit).toMatch(/^"default";r=0;t=(59|60)$/)
  })

  test.each<[string, Koa.Middleware]>([
    ['a limiter', rateLimit({ limit: 9, window: '1m' })],
    ['a limiter with an asynchronous key', rateLimit({ limit: 9, window: '1m', key: async () => 'all' })],
    ['a cap', inflightLimit({ limit: 9 })],
    ['a cap that waits for the handler', inflightLimit({ limit: 9, holdUntil: 'handler' })],
  ])('is passed on unchanged: %s', async (_what, limit) => {
    const fault = new Error('a fault of the application')
    const heard: unknown[] = []
    const app = new Make().use(limit)
    app.use(() => {
      throw fault
    })
    app.on('error', (error) => heard.push(error))
    expect((await request(app.callback()).get('/')).status).toBe(500)
    expect(heard).toEqual([fault])
    expect(heard[0]).toBe(fault)
  })
}
