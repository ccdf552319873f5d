// Compiled by every version of TypeScript with every module setting: types that a setting does not find make the code
// below an error, or the mistakes in it valid.
import { byIp, createLimiter, createSluice, type ExpressMiddleware, type Observer, rateLimit } from '@sluice/express'
import sluice, { type FastifyRateLimitOptions } from '@sluice/fastify'
import { rateLimit as fetchLimit } from '@sluice/fetch'
import { rateLimit as honoLimit, type SluiceEnv } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import { rateLimit as nodeLimit } from '@sluice/node-http'
import { type PolicyDocument, parsePolicies } from '@sluice/policies'
import type { SyncedBackendOptions } from '@sluice/redis'
import { sketchBackend } from '@sluice/sketches/limits'
import { fastify } from 'fastify'

const observer: Observer = { event: (name, { cause }) => console.log(name, cause) }
export const limits = createSluice({ observers: [observer] })
export const limit: ExpressMiddleware = rateLimit({ limit: 100, window: '1m', key: byIp({ ipv6Prefix: 64 }) })
export const remaining: number = createLimiter({ limit: 1, window: '1m' }).take('key').binding.remaining
export const options: FastifyRateLimitOptions = { limit: 1, window: '1m', key: (request) => request.hostname }
export const app = fastify().register(sluice, { rateLimit: options })
export const parsed: PolicyDocument = parsePolicies('version: 1', 'policies.yaml')
export const synced: SyncedBackendOptions = { nodes: 20 }
export const sketched = sketchBackend({ bytes: 2 ** 20 })
export type Env = SluiceEnv['Variables']

// @ts-expect-error
export const mistyped = rateLimit({ limitt: 'nonsense' })
// @ts-expect-error
export const mistypedSluice = createSluice({ observer })
// @ts-expect-error
export const mistypedFetch = fetchLimit({ limit: 'many', window: '1m' })
// @ts-expect-error
export const mistypedHono = honoLimit({ limit: 1, windw: '1m' })
// @ts-expect-error
export const mistypedKoa = koaLimit({ limit: 1, window: '1m', key: 5 })
// @ts-expect-error
export const mistypedNode = nodeLimit({ limit: 1, window: '1m', mode: 'on' })
// @ts-expect-error
export const mistypedPlugin = fastify().register(sluice, { rateLimit: { limit: 1, window: 5n } })
// @ts-expect-error
export const mistypedBackend = sketchBackend({ bytes: '2 MiB' })
