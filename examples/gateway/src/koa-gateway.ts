import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import Router from '@koa/router'
import { byHeader, type Clock, createSluice, explainClient } from '@sluice/koa'
import Koa, { type Context, type Next, type Response } from 'koa'
import { isKnownKey, isPassword, left, noKey, resultsOf, routes, words, workSlowly } from './api.ts'
import { chatReserve, policiesOf } from './policies.ts'
import type { Watch } from './watch.ts'

/** The API on Koa. Tests pass their own clock. */
export function koaGateway(clock?: Clock, watch?: Watch): Koa {
  const policies = policiesOf(watch?.site)
  const { rateLimit, inflightLimit } = createSluice({ clock, observers: watch?.observers })
  const app = new Koa().on('error', report)
  const router = new Router()
  // before the limits, so that viewing the page is not counted
  if (watch) app.use(watch.page.koa)
  app.use(rateLimit(policies.address))
  app.use(router.routes())

  router.get('/', (ctx) => {
    ctx.body = routes
  })

  const failures = { reserve: 1, settle: (_ctx: Context, { status }: Response) => (status === 401 ? 1 : 0) }
  router.post('/login', rateLimit({ ...policies.login, cost: failures }), async (ctx) => {
    const welcome = isPassword(await bodyOf(ctx.req))
    ctx.status = welcome ? 200 : 401
    ctx.body = { welcome }
  })

  router.get('/v1', knownKeyOnly, rateLimit({ key: byHeader('x-api-key'), policies: policies.v1 }), (ctx) => {
    ctx.body = { left: left(ctx.state.sluice) }
  })

  const cost = (ctx: Context): number => resultsOf(ctx.query.results) / 10
  router.get('/search', rateLimit({ ...policies.search, cost }), (ctx) => {
    ctx.body = { results: resultsOf(ctx.query.results) }
  })

  const settle = (ctx: Context): number => ctx.state.words
  const sent = { reserve: chatReserve, settle, settleOn: 'always' } as const
  router.get('/chat', rateLimit({ ...policies.chat, cost: sent }), chat)

  const cap = inflightLimit({ ...policies.slow, holdUntil: 'handler' })
  router.get('/client', (ctx) => {
    ctx.body = explainClient(ctx)
  })
  router.get('/slow', cap, async (ctx) => {
    ctx.body = await workSlowly()
  })
  return app
}

async function knownKeyOnly(ctx: Context, next: Next): Promise<void> {
  if (isKnownKey(ctx.get('x-api-key'))) return next()
  ctx.status = 401
  ctx.body = noKey
}

/** Streams the response and charges only the words sent, also if the client disconnects. */
function chat(ctx: Context): void {
  ctx.state.words = 0
  ctx.type = 'text/plain'
  ctx.body = Readable.from(counted(ctx), { highWaterMark: 1 })
}

async function* counted(ctx: Context): AsyncGenerator<string> {
  for await (const word of words(ctx.query.words)) {
    ctx.state.words++
    yield word
  }
}

/** Ignores the error of a client that disconnects during a stream. */
function report(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') console.error(error)
}

/** Reads a JSON body: Koa has no body parser, and a full parser is more than this example needs. */
function bodyOf(req: IncomingMessage): Promise<unknown> {
  return json(req).catch(() => undefined)
}
