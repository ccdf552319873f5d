// A Worker as users write it: its limits are created in the global scope, and count in Redis over HTTP.
import { env } from 'cloudflare:workers'
import { rateLimit } from '@sluice/fetch'
import { leasedBackend, redisBackend, redisChannel, redisInflight, syncedBackend } from '@sluice/redis'
import { Redis } from '@upstash/redis/cloudflare'

const { REST_URL, REST_TOKEN } = env as unknown as Record<string, string>
const redis = new Redis({ url: REST_URL, token: REST_TOKEN })
const limit = rateLimit({ limit: 1_000, window: '1h', deadlineMs: '10s', backend: redisBackend(redis) })
const limited = limit.wrap(() => new Response('hello'))

/** What each of the others throws here, where requests share no calls. */
const refusals = [leasedBackend, syncedBackend, redisInflight, redisChannel].map((make) => {
  try {
    make(redis)
    return `${make.name} was created`
  } catch (error) {
    return (error as { readonly code?: string }).code
  }
})

export default {
  fetch: (request: Request): Response | Promise<Response> =>
    new URL(request.url).pathname === '/limited' ? limited(request) : Response.json(refusals),
}
