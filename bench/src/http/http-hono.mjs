import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { bothWays, windowMs } from './both-ways.mjs'
import { mapFloor } from './map-floor.mjs'

// the address of the client, as `@hono/node-server` passes it
const env = { incoming: { socket: { remoteAddress: '127.0.0.1' } } }
const clientOf = (c) => c.env.incoming.socket.remoteAddress

const behind = (mount) => async (limit) => {
  const app = new Hono()
  await mount(app, limit)
  app.get('/', (c) => c.text('hello'))
  const server = createServer()
  // replaces the global Request and Response, which requests without a server do not have
  server.once('listening', () => server.on('request', getRequestListener(app.fetch)))
  return Object.assign(server, { ask: () => askInProcess(app) })
}

/** Reads the response to its end, without a server. */
async function askInProcess(app) {
  const response = await app.request('/', undefined, env)
  await response.text()
  return response.status
}

export const honoContenders = [
  { name: 'hono, bare', denial: false, serve: behind(() => {}) },
  {
    name: 'hono, a middleware that does nothing',
    role: 'floor',
    denial: false,
    serve: behind((app) => app.use((_c, next) => next())),
  },
  ...bothWays(
    'hand-written Map on Hono, 2 draft headers',
    'floor',
    behind((app, limit) => app.use(floor(limit))),
  ),
  ...bothWays(
    '@sluice/hono rateLimit',
    'sluice',
    behind(async (app, limit) => {
      const { rateLimit } = await import('@sluice/hono')
      app.use(rateLimit({ limit, window: windowMs }))
    }),
    { part: 'rate' },
  ),
  {
    name: '@sluice/hono inflightLimit',
    role: 'sluice',
    part: 'cap',
    denial: false,
    serve: behind(async (app) => {
      const { inflightLimit } = await import('@sluice/hono')
      app.use(inflightLimit({ limit: 10_000 }))
    }),
  },
  ...bothWays('hono-rate-limiter (default headers)', 'peer', behind(peer({}))),
  ...bothWays('hono-rate-limiter (draft-7)', 'peer', behind(peer({ standardHeaders: 'draft-7' }))),
]

function peer(options) {
  return async (app, limit) => {
    const { rateLimiter } = await import('hono-rate-limiter')
    app.use(rateLimiter({ windowMs, limit, keyGenerator: clientOf, ...options }))
  }
}

function floor(limit) {
  const map = mapFloor(limit)
  return (c, next) => {
    const { said, retryAfter } = map.take(clientOf(c))
    c.header('RateLimit-Policy', map.policy)
    c.header('RateLimit', said)
    if (retryAfter === undefined) return next()
    c.header('Retry-After', String(retryAfter))
    return c.text('Too many requests', 429)
  }
}
