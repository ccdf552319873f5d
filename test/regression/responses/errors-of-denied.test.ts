import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import * as ofExpress from '@sluice/express'
import * as ofFastify from '@sluice/fastify'
import * as ofHono from '@sluice/hono'
import * as ofKoa from '@sluice/koa'
import * as ofNode from '@sluice/node-http'
import { Warnings } from '@sluice/testkit'
import express, { type ErrorRequestHandler } from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import type { HTTPException } from 'hono/http-exception'
import Koa from 'koa'
import { express4 } from '../../adapters/express/express4.ts'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'

interface Answer {
  readonly status: number
  readonly body: string
}

/** What the error handler of the application received. */
interface Received {
  readonly message?: string | undefined
  readonly code?: string | undefined
  readonly status?: number | undefined
  readonly body?: unknown
}

/** Sends a denied request to an application behind a limiter with these options; `status` is that of the error handler. */
type Ask = (options: object, received: Received[]) => Promise<Answer>

const denying = { limit: 1, window: '1m', cost: () => 2 } as const

async function askServer(listener: Parameters<typeof createServer>[1]): Promise<Answer> {
  const server = createServer(listener as never)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const answer = { status: response.status, body: await response.text() }
  server.close()
  server.closeAllConnections()
  return answer
}

const received = ({ message, code, status, body }: Received): Received => ({ message, code, status, body })

const askExpress =
  (make: typeof express): Ask =>
  (options, seen) => {
    const app = make()
    const handle: ErrorRequestHandler = (error, _req, res, _next) => {
      seen.push(received(error))
      res.status(error.status ?? 500).send('handled')
    }
    app.use(ofExpress.rateLimit({ ...denying, ...options } as never))
    app.get('/', (_req, res) => {
      res.send('ok')
    })
    app.use(handle)
    return askServer(app)
  }

const askKoa =
  (Make: typeof Koa): Ask =>
  (options, seen) => {
    const app = new Make()
    app.use(async (ctx, next) => {
      try {
        await next()
      } catch (error) {
        seen.push(received(error as Received))
        ctx.status = (error as Received).status ?? 500
        ctx.body = 'handled'
      }
    })
    app.use(ofKoa.rateLimit({ ...denying, ...options } as never))
    app.use((ctx) => {
      ctx.body = 'ok'
    })
    return askServer(app.callback())
  }

const askFastify =
  (make: typeof fastify): Ask =>
  async (options, seen) => {
    const app = make()
    app.setErrorHandler((error: Received, _request, reply) => {
      seen.push(received(error))
      return reply.code(error.status ?? 500).send('handled')
    })
    await app.register(ofFastify.sluice, { rateLimit: { ...denying, ...options } as never })
    app.get('/', async () => 'ok')
    const { statusCode, body } = await app.inject('/')
    await app.close()
    return { status: statusCode, body }
  }

const askHono: Ask = async (options, seen) => {
  const app = new Hono()
  app.onError((error, c) => {
    const cause = (error.cause instanceof Error ? error.cause : error) as Received
    seen.push(received(cause))
    return c.text('handled', (cause.status ?? 500) as 500)
  })
  app.use(ofHono.rateLimit({ ...denying, ...options } as never))
  app.get('/', (c) => c.text('ok'))
  const response = await app.request('/')
  return { status: response.status, body: await response.text() }
}

const applications: Readonly<Record<string, Ask>> = {
  'Express 5': askExpress(express),
  'Express 4': askExpress(express4),
  'Koa 3': askKoa(Koa),
  'Koa 2': askKoa(Koa2),
  'Fastify 5': askFastify(fastify),
  'Fastify 4': askFastify(fastify4),
  Hono: askHono,
}

const throws = (): never => {
  throw new Error('no template')
}

describe.each(Object.entries(applications))('%s', (_name, ask) => {
  test.each([
    ['throws', throws],
    ['rejects', async () => throws()],
    [
      'throws later',
      async () => {
        await new Promise(setImmediate)
        throws()
      },
    ],
  ])('passes the error of a `denied` function that %s to the error handler', async (_how, denied) => {
    const seen: Received[] = []
    expect(await ask({ denied }, seen)).toEqual({ status: 500, body: 'handled' })
    expect(seen).toEqual([received(new Error('no template') as Received)])
  })

  // `next(undefined)` and `next('route')` of Express continue, and Koa does not respond to an error that is undefined
  test.each([undefined, null, 0, '', 'route', 'router', 'no template', Symbol('no template')])(
    'passes an error to the error handler if `denied` throws %p',
    async (thrown) => {
      for (const denied of [
        () => {
          throw thrown
        },
        () => Promise.reject(thrown),
      ]) {
        const seen: Received[] = []
        expect(await ask({ denied }, seen)).toEqual({ status: 500, body: 'handled' })
        expect(seen).toEqual([received(new Error(String(thrown)) as Received)])
      }
    },
  )

  test.each<[string, object, unknown]>([
    ['a text', { message: 'slow down' }, 'slow down'],
    ['a function that returns a text', { message: () => 'slow down' }, 'slow down'],
    ['an asynchronous function', { message: async () => 'slow down' }, 'slow down'],
  ])('with next: true, %s of `message` is the message of the error', async (_what, options, message) => {
    const seen: Received[] = []
    expect(await ask({ next: true, ...options }, seen)).toEqual({ status: 429, body: 'handled' })
    expect(seen).toEqual([{ message, code: 'SLUICE_DENIED', status: 429, body: message }])
  })

  test('with next: true, an object of `message` is the body of the error', async () => {
    const seen: Received[] = []
    await ask({ next: true, message: { error: 'slow down' } }, seen)
    const message = 'SLUICE_DENIED: denied by default'
    expect(seen).toEqual([{ message, code: 'SLUICE_DENIED', status: 429, body: { error: 'slow down' } }])
  })

  test('with next: true, a `message` function that fails leaves the default message', async () => {
    const warnings = new Warnings()
    warnings.listen()
    const seen: Received[] = []
    await ask({ next: true, message: throws }, seen)
    const message = 'SLUICE_DENIED: denied by default'
    expect(seen).toEqual([{ message, code: 'SLUICE_DENIED', status: 429, body: undefined }])
    warnings.stop()
    expect(warnings.codes).toContain('SLUICE_HOOK_FAILED')
  })
})

const anError = new Error('no template')

/** Applications whose error handler sets no status: with `denied`, or with a hook or a middleware that throws. */
const withoutStatus: Readonly<Record<string, (options: object | undefined) => Promise<Answer>>> = {
  'Express 5': (options) => {
    const handle: ErrorRequestHandler = (_error, _req, res, _next) => {
      res.send('handled')
    }
    return askServer(express().use(options ? ofExpress.rateLimit(options as never) : throws, handle))
  },
  ...Object.fromEntries(
    Object.entries({ 'Koa 3': Koa, 'Koa 2': Koa2 }).map(([name, Make]) => [
      name,
      (options: object | undefined) => {
        const app = new Make()
        app.use(async (ctx, next) => {
          await Promise.resolve(next()).catch(() => {
            ctx.body = 'handled'
          })
        })
        app.use(options ? ofKoa.rateLimit(options as never) : throws)
        return askServer(app.callback())
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({ 'Fastify 5': fastify, 'Fastify 4': fastify4 }).map(([name, make]) => [
      name,
      async (options: object | undefined) => {
        const app = make()
        app.setErrorHandler((_error, _request, reply) => reply.send('handled'))
        app.addHook('onRequest', options ? ofFastify.rateLimit(options as never) : async () => throws())
        app.get('/', async () => 'ok')
        const { statusCode, body } = await app.inject('/')
        return { status: statusCode, body }
      },
    ]),
  ),
}

test.each(Object.entries(withoutStatus))(
  '%s: an error of `denied` has no status of a denial, if the error handler sets none',
  async (_name, ask) => {
    const denied = (): never => {
      throw anError
    }
    expect(await ask({ ...denying, denied })).toEqual(await ask(undefined))
    expect((await ask({ ...denying, next: true })).status).toBe(429)
  },
)

describe.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4],
])('%s: an object that `denied` throws', (_name, make) => {
  const thrown = { statusCode: 418, error: 'slow down' }
  const limited = { ...denying, denied: () => Promise.reject(thrown) } as never
  const immediately = {
    ...denying,
    denied: () => {
      throw thrown
    },
  } as never

  test.each(['a hook', 'wrap', 'a plugin after all hooks'])(
    'is the response, or the error of the error handler: %s',
    async (how) => {
      for (const options of [limited, immediately]) {
        for (const handles of [false, true]) {
          const app = make()
          const seen: unknown[] = []
          if (handles)
            app.setErrorHandler((error, _request, reply) => {
              seen.push(error)
              return reply.code(420).send('handled')
            })
          if (how === 'a plugin after all hooks')
            await app.register(ofFastify.sluice, { phase: 'preHandler', rateLimit: options })
          if (how === 'wrap')
            app.get(
              '/',
              ofFastify.rateLimit(options).wrap(async () => 'ok'),
            )
          else app.get('/', how === 'a hook' ? { onRequest: ofFastify.rateLimit(options) } : {}, async () => 'ok')
          const answer = await app.inject('/')
          if (handles) expect([answer.statusCode, answer.body, seen]).toEqual([420, 'handled', [thrown]])
          else expect([answer.statusCode, answer.json()]).toEqual([418, thrown])
          expect(answer.headers['retry-after']).toBeUndefined()
          await app.close()
        }
      }
    },
  )
})

describe('responses of `app.onError` on Hono', () => {
  const options = { limit: 1, window: '1m', headers: 'legacy', message: 'slow down' } as const
  const { message: _message, ...without } = options
  const names = ['retry-after', 'cache-control', 'x-ratelimit-limit', 'content-type'] as const

  async function headersOf(limit: object, onError: Parameters<Hono['onError']>[0]): Promise<(string | null)[]> {
    const app = new Hono().use(ofHono.rateLimit(limit as never)).get('/', (c) => c.text('ok'))
    app.onError(onError)
    await app.request('/')
    const { headers } = await app.request('/')
    return names.map((name) => headers.get(name))
  }

  test.each([
    ['the error of the denial', { ...options, next: true }],
    ['an error of `denied`', { ...without, denied: throws }],
  ])('have the headers of the denial if the context makes them, for %s', async (_what, limit) => {
    const text = 'text/plain; charset=UTF-8'
    expect(await headersOf(limit, (_error, c) => c.text('handled', 429))).toEqual(['60', 'no-store', '1', text])
    expect((await headersOf(limit, (_error, c) => c.body(null, 204)))[3]).toBeNull()
    expect(await headersOf(limit, () => new Response(null))).toEqual([null, null, null, null])
  })

  test('keep what the application changes in the response of the HTTPException', async () => {
    const changed = await headersOf({ ...options, next: true }, (error) => {
      const response = (error as HTTPException).getResponse()
      response.headers.set('cache-control', 'private')
      response.headers.delete('retry-after')
      return response
    })
    expect(changed).toEqual([null, 'private', '1', 'text/plain; charset=utf-8'])
  })
})

test('an HTTPException of Hono has a response with the configured message', async () => {
  const app = new Hono()
  app.use(ofHono.rateLimit({ ...denying, next: true, message: 'slow down' } as never))
  const response = await app.request('/')
  expect([response.status, await response.text()]).toEqual([429, 'slow down'])
})

// `next` of a plain server may be any function, also the handler itself
test('without a framework, the default response is sent if `denied` throws', async () => {
  const limit = ofNode.rateLimit({ ...denying, denied: throws } as never)
  for (const listener of [
    limit.wrap((_req, res) => res.end('ok')),
    (req: never, res: never) => limit(req, res, () => (res as { end(text: string): void }).end('ok')),
  ]) {
    const { status, body } = await askServer(listener as never)
    expect([status, JSON.parse(body).status]).toEqual([429, 429])
  }
})

test.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4],
])(
  '%s answers a redirect in `denied` with 302, and any other response with the status of the denial',
  async (_name, make) => {
    const app = make()
    const sluice = ofFastify.rateLimit({
      ...denying,
      denied: (_request: unknown, reply: { redirect(url: string): unknown }) => reply.redirect('/busy'),
    } as never)
    app.get('/redirected', { onRequest: sluice }, async () => 'ok')
    const denied = (_request: unknown, reply: { send(body: unknown): unknown }): unknown => reply.send({ slow: 'down' })
    app.get('/sent', { onRequest: ofFastify.rateLimit({ ...denying, denied, status: 420 } as never) }, async () => 'ok')
    app.get(
      '/returned',
      { onRequest: ofFastify.rateLimit({ ...denying, denied: async () => 'slow' } as never) },
      async () => 'ok',
    )
    app.get('/default', { onRequest: ofFastify.rateLimit({ ...denying } as never) }, async () => 'ok')
    const redirected = await app.inject('/redirected')
    expect([redirected.statusCode, redirected.headers.location]).toEqual([302, '/busy'])
    for (const [path, status] of [
      ['/sent', 420],
      ['/returned', 429],
      ['/default', 429],
    ] as const) {
      expect((await app.inject(path)).statusCode).toBe(status)
    }
    await app.close()
  },
)
