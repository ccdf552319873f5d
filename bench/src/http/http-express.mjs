import { createServer } from 'node:http'
import express from 'express'
import { bothWays, windowMs } from './both-ways.mjs'
import { mapFloor } from './map-floor.mjs'

const behind = (mount) => async (limit) => {
  const app = express()
  await mount(app, limit)
  app.get('/', (_req, res) => res.send('hello'))
  return createServer(app)
}

export const expressContenders = [
  { name: 'express, bare', denial: false, serve: behind(() => {}) },
  {
    name: 'express, a middleware that does nothing',
    role: 'floor',
    denial: false,
    serve: behind((app) => app.use((_req, _res, next) => next())),
  },
  ...bothWays(
    'hand-written Map, 2 draft headers',
    'floor',
    behind((app, limit) => app.use(floor(limit))),
  ),
  ...bothWays(
    '@sluice/express rateLimit',
    'sluice',
    behind(async (app, limit) => {
      const { rateLimit } = await import('@sluice/express')
      app.use(rateLimit({ limit, window: windowMs }))
    }),
    { part: 'rate' },
  ),
  {
    name: '@sluice/express inflightLimit',
    role: 'sluice',
    part: 'cap',
    denial: false,
    serve: behind(async (app) => {
      const { inflightLimit } = await import('@sluice/express')
      app.use(inflightLimit({ limit: 10_000 }))
    }),
  },
  ...bothWays(
    '@sluice/express inflightLimit + rateLimit',
    'sluice',
    behind(async (app, limit) => {
      const { inflightLimit, rateLimit } = await import('@sluice/express')
      app.use(inflightLimit({ limit: 10_000 }))
      app.use(rateLimit({ limit, window: windowMs }))
    }),
    { part: 'both' },
  ),
  ...bothWays(
    'express-rate-limit (default headers)',
    'peer',
    behind(async (app, limit) => {
      const { rateLimit } = await import('express-rate-limit')
      app.use(rateLimit({ limit, windowMs }))
    }),
  ),
  ...bothWays(
    'express-rate-limit (draft-8)',
    'peer',
    behind(async (app, limit) => {
      const { rateLimit } = await import('express-rate-limit')
      app.use(rateLimit({ limit, windowMs, standardHeaders: 'draft-8', legacyHeaders: false }))
    }),
  ),
]

function floor(limit) {
  const map = mapFloor(limit)
  return (req, res, next) => {
    const { said, retryAfter } = map.take(req.ip)
    res.setHeader('RateLimit-Policy', map.policy)
    res.setHeader('RateLimit', said)
    if (retryAfter === undefined) return next()
    res.statusCode = 429
    res.setHeader('Retry-After', retryAfter)
    res.end('Too many requests')
  }
}
