import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInsight, dashboard } from '@sluice/insight'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createRedis, redisBackend, redisChannel } from '@sluice/redis'

// one of several processes with a limit in Redis, each with its own page

let limiter: Limiter

/** Serves the page. Returns its port. */
export async function serve(redisUrl: string, secret: string, token: string): Promise<number> {
  const client = createRedis(redisUrl)
  const insight = createInsight({ channel: redisChannel(client), secret })
  const policies = [{ name: 'api', limit: 2, window: '1h', algorithm: 'fixed-window' }] as const
  limiter = createLimiter({ policies, backend: redisBackend(client), deadlineMs: 5_000, observers: [insight] })
  const server = createServer(dashboard({ insight, token, updateMs: 250 }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

export async function isAllowed(key: string): Promise<boolean> {
  return (await limiter.take(key)).allowed
}
