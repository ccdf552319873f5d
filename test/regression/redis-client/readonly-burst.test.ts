import type { Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { redisOnMajor } from '../../redis/create-redis/on-major.ts'
import { eventually } from '../../services/eventually.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

// regression: each reply of a demoted primary closed the connection again, with another listener and timer

const redis = redisClientForTests()

test.each([5, 6] as const)(
  'fifty READONLY errors at once close a connection of ioredis %d once, and it reconnects',
  async (major) => {
    const { createRedis } = await redisOnMajor(major)
    const client = createRedis(redis.server.url)
    await eventually(async () => (await client.ping().catch(() => '')) === 'PONG', { what: 'a connection' })
    const { stream } = client as unknown as { stream: Socket }
    let closed = 0
    client.on('close', () => closed++)
    await redis.client.replicaof('127.0.0.1', 1)
    const refused = await Promise.allSettled(Array.from({ length: 50 }, (_, index) => client.set(`k${index}`, 'v')))
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['rejected']))
    await redis.client.replicaof('NO', 'ONE')
    await eventually(async () => (await client.set('k', 'v').catch(() => '')) === 'OK', { what: 'a new connection' })
    expect(closed).toBe(1)
    // more than ten listeners, for which Node warns about a leak
    expect(stream.listenerCount('close')).toBeLessThan(10)
    client.disconnect()
  },
)
