// A Worker as users write it: its limits are created in the global scope, and count in Durable Objects.
import { env } from 'cloudflare:workers'
import { durableObjectBackend } from '@sluice/cloudflare'
import { rateLimit } from '@sluice/fetch'

export { LimitObject } from '@sluice/cloudflare'

const { LIMITS } = env
const common = { limit: 1_000, window: '1h', deadlineMs: 10_000 } as const
const fast = rateLimit({ ...common, name: 'fast', backend: durableObjectBackend(LIMITS) })
const durable = rateLimit({ ...common, name: 'durable', backend: durableObjectBackend(LIMITS, { durable: true }) })
const hello = (): Response => new Response('hello')
const handlers: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
  '/fast': fast.wrap(hello),
  '/durable': durable.wrap(hello),
}

export default {
  fetch: (request: Request): Response | Promise<Response> => handlers[new URL(request.url).pathname](request),
}
