import { createLimiter } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { redisBackend } from '@sluice/redis'
import type { Cluster, Redis } from 'ioredis'
import { Pool } from 'pg'

/** The limit of the policy `counter`, which is never reached. */
export const ENDLESS = 1e9

/** Units of the policy `counter` that the server itself has counted. */
export async function serverCount(
  client: Redis | Cluster | Pool,
  scope: string,
  keys: readonly string[],
): Promise<number> {
  // a Redis client that is still connecting would reject the command
  if (!(client instanceof Pool)) await client.ping()
  const limiter = createLimiter({
    scope,
    policies: [{ name: 'counter', limit: ENDLESS, window: '1h', algorithm: 'fixed-window' }],
    backend: client instanceof Pool ? postgresBackend(client) : redisBackend(client),
    deadlineMs: 10_000,
  })
  const decisions = await Promise.all(keys.map((key) => limiter.peek(key)))
  await limiter.close()
  if (decisions.some(({ counted }) => !counted)) throw new Error('the server did not tell what it counted')
  return decisions.reduce((sum, { binding }) => sum + ENDLESS - binding.remaining, 0)
}
