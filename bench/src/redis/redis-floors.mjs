// Baselines: cost of one command for client and server, and of the smallest script that enforces a limit.
import { connect } from './redis-client.mjs'

/** The smallest script that enforces a limit. */
export const countScript = `
local used = redis.call('INCR', KEYS[1])
if used == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return { used, redis.call('PTTL', KEYS[1]) }`

/** One call of a script that does nothing: the least that a decision on Redis can cost. */
export const redisRoundTrip = 'ioredis EVALSHA alone'

/** The contender that ratios divide by. */
export const redisYardstick = 'ioredis EVALSHA INCR + PTTL'

export const redisFloors = [
  {
    name: 'ioredis PING',
    role: 'floor',
    counts: false,
    async open({ port }) {
      const client = await connect(port)
      return { take: () => client.ping(), allowed: () => true }
    },
  },
  {
    name: redisRoundTrip,
    role: 'floor',
    counts: false,
    async open({ port, scope }) {
      const client = await connect(port)
      const sha = await client.script('LOAD', 'return 1')
      return { take: (key) => client.evalsha(sha, 1, `floor:${scope}:${key}`), allowed: () => true }
    },
  },
  {
    name: redisYardstick,
    role: 'floor',
    async open({ port, limit, windowMs, scope }) {
      const client = await connect(port)
      const sha = await client.script('LOAD', countScript)
      return {
        take: (key) => client.evalsha(sha, 1, `floor:${scope}:${key}`, windowMs),
        allowed: ([used]) => used <= limit,
      }
    },
  },
]
