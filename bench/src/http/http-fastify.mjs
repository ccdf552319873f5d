import fastify from 'fastify'
import { bothWays, windowMs } from './both-ways.mjs'
import { mapFloor } from './map-floor.mjs'

const behind = (mount) => async (limit) => {
  const app = fastify()
  await mount(app, limit)
  app.get('/', (_request, reply) => {
    reply.send('hello')
  })
  await app.ready()
  return app.server
}

export const fastifyContenders = [
  { name: 'fastify, bare', denial: false, serve: behind(() => {}) },
  ...bothWays(
    'hand-written Map on Fastify, 2 draft headers',
    'floor',
    behind((app, limit) => app.addHook('onRequest', floor(limit))),
  ),
  ...bothWays(
    '@sluice/fastify rateLimit',
    'sluice',
    behind(async (app, limit) => {
      const { sluice } = await import('@sluice/fastify')
      await app.register(sluice, { rateLimit: { limit, window: windowMs } })
    }),
    { part: 'rate' },
  ),
  {
    name: '@sluice/fastify inflightLimit',
    role: 'sluice',
    part: 'cap',
    denial: false,
    serve: behind(async (app) => {
      const { sluice } = await import('@sluice/fastify')
      await app.register(sluice, { inflightLimit: { limit: 10_000 } })
    }),
  },
  ...bothWays(
    '@sluice/fastify inflightLimit + rateLimit',
    'sluice',
    behind(async (app, limit) => {
      const { sluice } = await import('@sluice/fastify')
      await app.register(sluice, { rateLimit: { limit, window: windowMs }, inflightLimit: { limit: 10_000 } })
    }),
    { part: 'both' },
  ),
  ...bothWays(
    '@fastify/rate-limit',
    'peer',
    behind(async (app, limit) => {
      const { default: rateLimit } = await import('@fastify/rate-limit')
      await app.register(rateLimit, { max: limit, timeWindow: windowMs })
    }),
  ),
]

function floor(limit) {
  const map = mapFloor(limit)
  return (request, reply, done) => {
    const { said, retryAfter } = map.take(request.ip)
    reply.header('RateLimit-Policy', map.policy)
    reply.header('RateLimit', said)
    if (retryAfter === undefined) return done()
    reply.code(429).header('Retry-After', retryAfter).send('Too many requests')
  }
}
