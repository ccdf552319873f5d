import type { Redis } from 'ioredis'
import { forTests } from '../for-tests.ts'
import { type RedisServer, type RedisServerOptions, startRedis } from './redis-server.ts'

/** Starts a Redis server before the tests of a file or a describe block, and stops it after them. */
export function redisForTests(options: RedisServerOptions = {}): { readonly server: RedisServer } {
  const server = forTests(
    () => startRedis(options),
    (one) => one.stop(),
  )
  return {
    get server() {
      return server.current
    },
  }
}

/** Like `redisForTests`, with a client that is connected before the first test, so that no deadline includes that. */
export function redisClientForTests(options: RedisServerOptions = {}): {
  readonly server: RedisServer
  readonly client: Redis
} {
  const redis = redisForTests(options)
  const client = forTests(
    async () => {
      const one = redis.server.client()
      await one.ping()
      return one
    },
    (one) => one.disconnect(),
  )
  return {
    get server() {
      return redis.server
    },
    get client() {
      return client.current
    },
  }
}
