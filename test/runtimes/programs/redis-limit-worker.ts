// A Worker as users write it: its limits are created in the global scope, and count in Redis over HTTP.
import { env } from 'cloudflare:workers'
import { inflightLimit, rateLimit } from '@sluice/fetch'
import { leasedBackend, redisBackend, redisChannel, redisInflight, syncedBackend } from '@sluice/redis'
import { Redis } from '@upstash/redis/cloudflare'

const { REST_URL, REST_TOKEN } = env as unknown as Record<string, string>
const redis = new Redis({ url: REST_URL, token: REST_TOKEN })
const limit = rateLimit({ limit: 1_000, window: '1h', deadlineMs: '10s', backend: redisBackend(redis) })
const limited = limit.wrap(() => new Response('hello'))

const backend = redisInflight(redis, { maxHoldMs: '1m', deadlineMs: '3s' })
/** Answers with the number of requests that all Workers work on. */
const capped = inflightLimit({ limit: 3, backend }).wrap(async () => {
  const working = await redis.incr('working')
  // the work is requests, because the clock of a Worker stands still
  for (let calls = 0; calls < 5; calls++) await redis.ping()
  await redis.decr('working')
  return Response.json({ working })
})

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
  fetch(request: Request): Response | Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/limited') return limited(request)
    return pathname === '/capped' ? capped(request) : Response.json(refusals)
  },
}
