import { type Backend, createLimiter } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import type { Cluster, Redis } from 'ioredis'

/** The limit of the policy `counter`, which is never reached. */
export const ENDLESS = 1e9

/** Units of the policy `counter` that the server itself has counted, read with a client of Redis or by a backend. */
export async function serverCount(
  server: Redis | Cluster | Backend,
  scope: string,
  keys: readonly string[],
): Promise<number> {
  const isBackend = 'takeAll' in server
  // a Redis client that is still connecting would reject the command
  if (!isBackend) await server.ping()
  const limiter = createLimiter({
    scope,
    policies: [{ name: 'counter', limit: ENDLESS, window: '1h', algorithm: 'fixed-window' }],
    backend: isBackend ? server : redisBackend(server),
    deadlineMs: 10_000,
  })
  const decisions = await Promise.all(keys.map((key) => limiter.peek(key)))
  await limiter.close()
  if (decisions.some(({ counted }) => !counted)) throw new Error('the server did not tell what it counted')
  return decisions.reduce((sum, { binding }) => sum + ENDLESS - binding.remaining, 0)
}
