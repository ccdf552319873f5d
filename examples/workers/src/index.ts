import { env } from 'cloudflare:workers'
import { durableObjectBackend } from '@sluice/cloudflare'
import { inflightLimit, rateLimit, sluiceOf } from '@sluice/fetch'

// the class of the Durable Objects that count for all isolates
export { LimitObject } from '@sluice/cloudflare'

// in the global scope: a limit that is created inside `fetch` would start from zero on each request
const limit = rateLimit({ name: 'api', limit: 20, window: '10s' })
const cap = inflightLimit({ name: 'concurrent', limit: 50 })
const shared = rateLimit({ name: 'login', limit: 5, window: '1m', backend: durableObjectBackend(env.LIMITS) })

function respond(request: Request): Response {
  const left = sluiceOf(request)?.decision?.binding.remaining
  return Response.json({ path: new URL(request.url).pathname, left })
}

const login = shared.wrap(respond)
const handler = limit.wrap(
  cap.wrap((request: Request, ...rest: unknown[]) =>
    new URL(request.url).pathname === '/login' ? login(request, ...rest) : respond(request),
  ),
)

export default { fetch: handler }
