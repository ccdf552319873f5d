import { describe, test } from '@jest/globals'
import { adapterContract, overridesContract } from '@sluice/testkit'
import { fastifyApp, layeredApp } from './fastify-app.ts'
import { fastifyErrors } from './fastify-errors.ts'
import { fastifyHandlers } from './fastify-handlers.ts'
import { fastifyHooks } from './fastify-hooks.ts'
import { fastifyParts } from './fastify-parts.ts'
import { fastifyPlugin } from './fastify-plugin.ts'
import { fastifyProxies } from './fastify-proxies.ts'
import { fastify4 } from './fastify4.ts'

describe('Fastify 4', () => {
  adapterContract({ describe, test }, (description) => fastifyApp(fastify4(), description))
  overridesContract({ describe, test }, (description) => layeredApp(fastify4(), description))
  fastifyHooks(fastify4)
  fastifyErrors(fastify4)
  fastifyHandlers(fastify4)
  fastifyPlugin(fastify4)
  fastifyParts(fastify4)
  fastifyProxies(fastify4)
})
