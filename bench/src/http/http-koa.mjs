import { createServer } from 'node:http'
import Koa from 'koa'
import { bothWays, windowMs } from './both-ways.mjs'
import { mapFloor } from './map-floor.mjs'

const behind = (mount) => async (limit) => {
  const app = new Koa()
  await mount(app, limit)
  app.use((ctx) => {
    ctx.body = 'hello'
  })
  return createServer(app.callback())
}

export const koaContenders = [
  { name: 'koa, bare', denial: false, serve: behind(() => {}) },
  ...bothWays(
    'hand-written Map on Koa, 2 draft headers',
    'floor',
    behind((app, limit) => app.use(floor(limit))),
  ),
  ...bothWays(
    '@sluice/koa rateLimit',
    'sluice',
    behind(async (app, limit) => {
      const { rateLimit } = await import('@sluice/koa')
      app.use(rateLimit({ limit, window: windowMs }))
    }),
    { part: 'rate' },
  ),
  {
    name: '@sluice/koa inflightLimit',
    role: 'sluice',
    part: 'cap',
    denial: false,
    serve: behind(async (app) => {
      const { inflightLimit } = await import('@sluice/koa')
      app.use(inflightLimit({ limit: 10_000 }))
    }),
  },
  ...bothWays(
    '@sluice/koa inflightLimit + rateLimit',
    'sluice',
    behind(async (app, limit) => {
      const { inflightLimit, rateLimit } = await import('@sluice/koa')
      app.use(inflightLimit({ limit: 10_000 }))
      app.use(rateLimit({ limit, window: windowMs }))
    }),
    { part: 'both' },
  ),
  ...bothWays(
    'koa-ratelimit',
    'peer',
    behind(async (app, limit) => {
      const { default: rateLimit } = await import('koa-ratelimit')
      // it admits one request less than its limit once the first window has started
      app.use(rateLimit({ driver: 'memory', db: new Map(), max: limit, duration: windowMs, id: (ctx) => ctx.ip }))
    }),
  ),
]

function floor(limit) {
  const map = mapFloor(limit)
  return (ctx, next) => {
    const { said, retryAfter } = map.take(ctx.ip)
    ctx.set('RateLimit-Policy', map.policy)
    ctx.set('RateLimit', said)
    if (retryAfter === undefined) return next()
    ctx.status = 429
    ctx.set('Retry-After', String(retryAfter))
    ctx.body = 'Too many requests'
  }
}
