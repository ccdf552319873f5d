// Servers behind one limit: without an insight, with one, and with one that also logs each denial.
import { createServer } from 'node:http'
import { windowMs } from '../http/both-ways.mjs'

const limit = 1e9
const frameworks = { 'Express 5': onExpress, 'Koa 3': onKoa, 'Fastify 5': onFastify }
const variants = {
  'without an insight': async () => undefined,
  'with an insight': async () => [await insight()],
  'with an insight and `logObserver`': async () => [await insight(), await denials()],
}

export const insightContenders = Object.entries(frameworks).flatMap(([group, serverOf]) =>
  Object.entries(variants).map(([variant, observers]) => ({
    name: `${group}, ${variant}`,
    group,
    variant,
    denial: false,
    serve: async () => serverOf(await observers()),
  })),
)

async function insight() {
  const { createInsight } = await import('@sluice/insight')
  return createInsight()
}

async function denials() {
  const { logObserver } = await import('@sluice/insight')
  return logObserver({ logger: { warn() {} } })
}

async function onExpress(observers) {
  const { default: express } = await import('express')
  const { rateLimit } = await import('@sluice/express')
  const app = express()
  app.get('/', rateLimit({ limit, window: windowMs, observers }), (_req, res) => res.send('hello'))
  return createServer(app)
}

async function onKoa(observers) {
  const { default: Koa } = await import('koa')
  const { rateLimit } = await import('@sluice/koa')
  const app = new Koa()
  app.use(rateLimit({ limit, window: windowMs, observers }))
  app.use((ctx) => {
    ctx.body = 'hello'
  })
  return createServer(app.callback())
}

async function onFastify(observers) {
  const { default: fastify } = await import('fastify')
  const { sluice } = await import('@sluice/fastify')
  const app = fastify()
  await app.register(sluice, { rateLimit: { limit, window: windowMs }, observers })
  app.get('/', (_request, reply) => {
    reply.send('hello')
  })
  await app.ready()
  return app.server
}
