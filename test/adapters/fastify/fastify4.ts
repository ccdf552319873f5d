import { createRequire } from 'node:module'
import type { fastify } from 'fastify'

/** Fastify 4 under its alias; the types of Fastify 5 fit what the tests use. */
export const fastify4: typeof fastify = createRequire(import.meta.url)('fastify4')
