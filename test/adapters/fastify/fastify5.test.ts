import { describe, test } from '@jest/globals'
import { adapterContract, overridesContract } from '@sluice/testkit'
import { fastify } from 'fastify'
import { fastifyApp, layeredApp } from './fastify-app.ts'
import { fastifyErrors } from './fastify-errors.ts'
import { fastifyHandlers } from './fastify-handlers.ts'
import { fastifyHooks } from './fastify-hooks.ts'
import { fastifyParts } from './fastify-parts.ts'
import { fastifyPlugin } from './fastify-plugin.ts'
import { fastifyProxies } from './fastify-proxies.ts'

describe('Fastify 5', () => {
  adapterContract({ describe, test }, (description) => fastifyApp(fastify(), description))
  overridesContract({ describe, test }, (description) => layeredApp(fastify(), description))
  fastifyHooks(fastify)
  fastifyErrors(fastify)
  fastifyHandlers(fastify)
  fastifyPlugin(fastify)
  fastifyParts(fastify)
  fastifyProxies(fastify)
})
