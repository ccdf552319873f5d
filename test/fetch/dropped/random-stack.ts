import { createSluice } from '@sluice/hono'
import { systemClock } from '@sluice/limiter-core/backend'
import type { SeededRandom } from '@sluice/testkit'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { etag } from 'hono/etag'
import { HTTPException } from 'hono/http-exception'
import { streamSSE } from 'hono/streaming'
import { timeout } from 'hono/timeout'

type Middleware = (random: SeededRandom) => MiddlewareHandler

const afterwards =
  (run: (c: Context) => unknown): Middleware =>
  () =>
  async (c, next) => {
    await next()
    await run(c)
  }

function streamOf(...parts: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift()
      if (part === undefined) controller.close()
      else controller.enqueue(new TextEncoder().encode(part))
    },
  })
}

/** Cancels a body without waiting: the cancellation of a cloned body ends when the clone is cancelled, too. */
function cancel({ body }: Response): void {
  if (!body?.locked) body?.cancel().catch(() => {})
}

/** Middleware that changes, drops, reads or replaces a response. */
const MIDDLEWARE: Readonly<Record<string, Middleware>> = {
  none: () => (_c, next) => next(),
  'throws before': () => () => {
    throw new Error('early')
  },
  'throws after': afterwards(() => {
    throw new Error('late')
  }),
  'throws HTTPException after': afterwards(() => {
    throw new HTTPException(418, { message: 'teapot' })
  }),
  'throws text after': afterwards(() => {
    throw 'late' as unknown as Error
  }),
  'answers itself': () => (c) => Promise.resolve(c.text('own')),
  'returns another response': () => async (c, next) => {
    await next()
    return c.text('ignored')
  },
  'replaces by JSON': afterwards((c) => {
    c.res = c.json({ replaced: true })
  }),
  'replaces by nothing': afterwards((c) => {
    c.res = undefined
    c.res = new Response(null, { status: 204 })
  }),
  'replaces by a stream': afterwards((c) => {
    c.res = new Response(streamOf('one', 'two'))
  }),
  'cancels and replaces': afterwards((c) => {
    cancel(c.res)
    c.res = c.text('replaced')
  }),
  'replaces and cancels': afterwards((c) => {
    const { res } = c
    c.res = c.text('replaced')
    cancel(res)
  }),
  'copies the response': afterwards((c) => {
    c.res = new Response(c.res.body, c.res)
  }),
  'reads a clone': afterwards(async (c) => {
    if (isFiniteBody(c)) await c.res.clone().text()
  }),
  'leaves a clone unread': afterwards((c) => void c.res.clone()),
  'transforms the text': afterwards(async (c) => {
    if (!isFiniteBody(c)) return
    const text = await c.res.text()
    c.res = new Response(NO_BODY.includes(c.res.status) ? null : text.toUpperCase(), c.res)
  }),
  'adds a header': afterwards((c) => c.header('X-Late', '1')),
  compress: () => compress({ threshold: 1 }),
  etag: () => etag(),
  cors: () => cors(),
  timeout: () => timeout(2),
}

const NO_BODY = [101, 204, 205, 304]

/** Whether the body of the response ends without its reader. */
function isFiniteBody(c: Context): boolean {
  return c.res.headers.get('content-type')?.startsWith('text/event-stream') !== true
}

type Handler = (c: Context) => Response | Promise<Response>

/** Handlers of the application. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  text: (c) => c.text('hello'),
  json: (c) => c.json({ hello: 'world' }),
  empty: (c) => c.body(null, 204),
  'not modified': (c) => c.body(null, 304),
  'own etag': (c) => c.text('hello', 200, { etag: '"v1"' }),
  redirect: () => Response.redirect('http://localhost/elsewhere', 302),
  stream: () => new Response(streamOf('one', 'two', 'three')),
  'failing stream': () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.error(new Error('the source broke')),
      }),
    ),
  events: (c) =>
    streamSSE(c, async (out) => {
      for (let i = 0; i < 200 && !out.aborted; i++) await out.writeSSE({ data: String(i) })
    }),
  throws: () => {
    throw new Error('broken')
  },
  missing: (c) => c.notFound() as Response,
  // later than the timeout
  late: async (c) => {
    await new Promise<void>((resolve) => systemClock.after(6, resolve))
    return c.text('late')
  },
}

/** An application with a cap and a cost that is settled, in a random stack of middleware. */
export interface Stack {
  readonly app: Hono
  /** The middleware from the outside to the inside, and the handler, for messages. */
  readonly text: string
  /** Whether only a host, or garbage collection, may show the end of a request: then no hook can receive the context. */
  readonly mayVanish: boolean
  /** Number of places in use. */
  held(): number
  /** Requests whose cost was taken, and the number of settlements of each of them. */
  readonly settlements: Map<Request, number>
}

/** Kinds of middleware and of handlers. */
export const KINDS = Object.keys(MIDDLEWARE).length + Object.keys(HANDLERS).length

export function randomStack(random: SeededRandom, used: Set<string>): Stack {
  const { rateLimit, inflightLimit } = createSluice({})
  const settlements = new Map<Request, number>()
  const cap = inflightLimit({ name: 'all', limit: 100 })
  const cost = {
    reserve: (c: Context) => {
      settlements.set(c.req.raw, 0)
      return 2
    },
    settle: (c: Context) => {
      settlements.set(c.req.raw, (settlements.get(c.req.raw) ?? 0) + 1)
      return 1
    },
    settleOn: 'always' as const,
  }
  const limit = rateLimit({ name: 'cost', limit: 1_000_000, window: '1h', key: () => 'all', cost })
  const drawn = (): [string, MiddlewareHandler] => {
    const name = random.pick(Object.keys(MIDDLEWARE))
    return [name, MIDDLEWARE[name](random)]
  }
  const some = () => Array.from({ length: random.whole(3) }, drawn)
  const limits: [string, MiddlewareHandler][] = [
    ['CAP', cap],
    ['COST', limit],
  ]
  if (random.whole(2) === 0) limits.reverse()
  const stack = [...some(), limits[0], ...some(), limits[1], ...some()]
  const handler = random.pick(Object.keys(HANDLERS))
  for (const name of [...stack.map(([one]) => one), handler]) used.add(name)
  const onError = random.pick(['default', 'own', 'rethrows'])
  const text = [...stack.map(([name]) => name), handler, `errors: ${onError}`].join(' > ')
  return {
    app: appOf(stack, HANDLERS[handler], onError),
    text,
    mayVanish: /throws text|clone unread|rethrows|timeout.*late/.test(text),
    held: () => cap.limiter.count() as number,
    settlements,
  }
}

function appOf(stack: readonly [string, MiddlewareHandler][], handler: Handler, onError: string): Hono {
  const app = new Hono()
  for (const [, middleware] of stack) app.use(middleware)
  app.get('/', handler)
  app.post('/', handler)
  if (onError !== 'default') {
    app.onError((error, c) => {
      if (onError === 'rethrows') throw error
      return c.text('failed', 500)
    })
  }
  return app
}
