import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createRedis, createRedisCluster, leasedBackend, redisBackend } from '@sluice/redis'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { startRedisCluster } from '../../services/redis/redis-cluster.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const LONG_MS = 20_000
const redis = redisForTests()

const clients = [
  ['createRedis', () => createRedis(`redis://127.0.0.1:${redis.server.port}`)],
  [
    'createRedis with a lazy connection',
    () => createRedis(`redis://127.0.0.1:${redis.server.port}`, { lazyConnect: true }),
  ],
  ['ioredis 6', () => new Redis(redis.server.port)],
  ['ioredis 5', () => new Redis5(redis.server.port) as unknown as Redis],
] as const

describe.each([
  ['redisBackend', redisBackend],
  ['leasedBackend', leasedBackend],
])('%s', (_name, make) => {
  test.each(clients)('counts from the first take on over %s that is still connecting', async (_client, connect) => {
    const scope = randomUUID()
    const cold = Array.from({ length: 4 }, connect)
    const limiters = cold.map((client) =>
      createLimiter({
        scope,
        policies: [{ name: 'cold', algorithm: 'fixed-window', limit: 1_000, window: '1h' }],
        backend: make(client),
        onBackendError: 'deny',
        deadlineMs: LONG_MS,
      }),
    )
    const taken = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 1_000 }, () => limiter.take('a'))),
    )
    expect(taken.filter(({ counted }) => !counted)).toHaveLength(0)
    const admitted = taken.filter(({ allowed }) => allowed).length
    // units leased to another process are not available to the last takes
    expect(admitted).toBeLessThanOrEqual(1_000)
    expect(admitted).toBeGreaterThanOrEqual(make === redisBackend ? 1_000 : 600)
    await Promise.all(limiters.map((limiter) => limiter.close()))
    for (const client of cold) client.disconnect()
  })
})

test('a cluster that is still connecting counts from the first take on, whatever node a key belongs to', async () => {
  const cluster = await startRedisCluster()
  const client = createRedisCluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })))
  const limiter = createLimiter({
    policies: [{ limit: 10, window: '1h' }],
    backend: redisBackend(client),
    onBackendError: 'deny',
    deadlineMs: LONG_MS,
  })
  const taken = await Promise.all(Array.from({ length: 100 }, (_, user) => limiter.take(`user ${user}`)))
  expect(taken.filter(({ allowed }) => !allowed)).toHaveLength(0)
  await limiter.close()
  client.disconnect()
  await cluster.stop()
})

describe('an unreachable server', () => {
  test('is not waited for after an attempt has failed', async () => {
    const client = createRedis('redis://127.0.0.1:1')
    const backend = redisBackend(client)
    const charge = { limit: 5, window: '1h' } as const
    const limiter = createLimiter({ policies: [charge], backend, onBackendError: 'deny', deadlineMs: LONG_MS })
    const startedAt = systemClock.now()
    // waits for the first attempt, which is refused at once
    expect(await limiter.take('a')).toMatchObject({ counted: false, source: 'deny' })
    expect(await limiter.take('a')).toMatchObject({ counted: false, source: 'deny' })
    expect(systemClock.now() - startedAt).toBeLessThan(LONG_MS / 2)
    await limiter.close()
    client.disconnect()
  })

  test('is waited for until the deadline if it drops all data', async () => {
    const silent: Server = createServer(() => {}).listen(0)
    const { port } = silent.address() as { port: number }
    const client = createRedis(`redis://127.0.0.1:${port}`)
    const limiter = createLimiter({
      policies: [{ limit: 5, window: '1h' }],
      backend: redisBackend(client),
      onBackendError: 'allow',
      deadlineMs: 50,
    })
    expect(await limiter.take('a')).toMatchObject({ allowed: true, counted: false, source: 'allow' })
    await limiter.close()
    client.disconnect()
    silent.close()
  })
})
