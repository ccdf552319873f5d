import { createServer, type Server } from 'node:http'
import type { Clock } from '@sluice/express'
import { expressGateway } from './express-gateway.ts'
import { fastifyGateway } from './fastify-gateway.ts'
import { koaGateway } from './koa-gateway.ts'
import type { Watch } from './watch.ts'

/** The same API on each framework, as a server that does not listen yet. Each counts separately. */
export const sites: Readonly<Record<string, (clock?: Clock, watch?: Watch) => Promise<Server>>> = {
  Express: async (clock, watch) => createServer(expressGateway(clock, watch)),
  Koa: async (clock, watch) => createServer(koaGateway(clock, watch).callback()),
  Fastify: async (clock, watch) => {
    const app = await fastifyGateway(clock, watch)
    await app.ready()
    return app.server
  },
}
