import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { hashSlot } from '@sluice/redis'
import { RedisHyperLogLog } from '@sluice/sketches'
import { until } from '@sluice/testkit'
import type { Cluster } from 'ioredis'
import { type RedisCluster, startRedisCluster } from '../../services/redis-cluster.ts'
import { redisOnMajor } from '../create-redis/redis-on-major.ts'

type SluiceRedis = typeof import('@sluice/redis')

let cluster: RedisCluster
const members: { redis: SluiceRedis; client: Cluster }[] = []

beforeAll(async () => {
  cluster = await startRedisCluster()
  const nodes = cluster.ports.map((port) => ({ host: '127.0.0.1', port }))
  for (const major of [5, 6] as const) {
    const redis = await redisOnMajor(major)
    members.push({ redis, client: redis.createRedisCluster(nodes) })
  }
}, 40_000)

afterAll(async () => {
  for (const { client } of members) client.disconnect()
  await cluster?.stop()
})

test('uniques of every shard, with windows and without, are counted together over clusters of ioredis 5 and 6', async () => {
  const topics = ['a', 'b', 'c', 'd', 'e', 'f']
  const shards = new Set(await Promise.all(topics.map((topic) => cluster.masterOf(hashSlot(`{${topic}}`)))))
  expect(shards.size).toBe(3)
  const all = new RedisHyperLogLog()
  const made = members.flatMap(({ redis, client }) =>
    topics.map((name, at) => redis.redisUniques(client, { name, tickMs: 10, window: at % 2 ? '1d' : undefined })),
  )
  for (const [at, uniques] of made.entries()) {
    for (let n = 0; n < 2_000; n++) {
      // those of the one client and those of the other overlap by half
      const key = `client ${n + (at < topics.length ? 0 : 1_000)}`
      uniques.add(key)
      all.add(key)
    }
  }
  await until(() => made.every((uniques) => uniques.count() === all.count()))
  const plain = cluster.client()
  for (const uniques of made) expect(await plain.pfcount(uniques.key as string)).toBe(all.count())
  await Promise.all(made.map((uniques) => uniques.close()))
})
