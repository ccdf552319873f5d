import { afterAll, beforeAll } from '@jest/globals'
import type { Redis } from 'ioredis'
import { type RedisServer, type RedisServerOptions, startRedis } from '../../services/redis/redis-server.ts'

let prefixes = 0

/** A server for the tests of one file, with prefixes that no two tests share. */
export function ownRedis(options: RedisServerOptions = {}): { server: RedisServer; client: Redis; prefix(): string } {
  const own = { prefix: () => `test-${++prefixes}` } as { server: RedisServer; client: Redis; prefix(): string }
  beforeAll(async () => {
    own.server = await startRedis(options)
    own.client = own.server.client()
    await own.client.ping()
  })
  afterAll(() => own.server.stop())
  return own
}
