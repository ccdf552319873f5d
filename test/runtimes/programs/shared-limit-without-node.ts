// A Worker without `nodejs_compat`, whose limit counts in Durable Objects. `?forgotten` omits the option `waitUntil`.
import { env, waitUntil } from 'cloudflare:workers'
import { durableObjectBackend } from '@sluice/cloudflare'
import { rateLimit } from '@sluice/fetch'

export { LimitObject } from '@sluice/cloudflare'

const backend = durableObjectBackend(env.LIMITS, { waitUntil, secret: 'a secret of the fleet' })
const limit = rateLimit({ name: 'all', limit: 3, window: '1m', backend, deadlineMs: 10_000 })
const handler = limit.wrap(() => new Response('hello'))

export default {
  fetch(request: Request): Response | Promise<Response> {
    if (!request.url.endsWith('?forgotten')) return handler(request)
    try {
      durableObjectBackend(env.LIMITS)
      return new Response('created')
    } catch (error) {
      return new Response((error as Error).message)
    }
  },
}
