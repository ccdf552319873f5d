import { createServer, type Server } from 'node:http'
import type { Clock } from '@sluice/express'
import { expressGateway } from './express-gateway.ts'
import { fastifyGateway } from './fastify-gateway.ts'
import { koaGateway } from './koa-gateway.ts'

/** The same API on each framework, as a server that does not listen yet. Each counts for itself. */
export const sites: Readonly<Record<string, (clock?: Clock) => Promise<Server>>> = {
  Express: async (clock) => createServer(expressGateway(clock)),
  Koa: async (clock) => createServer(koaGateway(clock).callback()),
  Fastify: async (clock) => {
    const app = await fastifyGateway(clock)
    await app.ready()
    return app.server
  },
}
