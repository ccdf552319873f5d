import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { hashSlot } from '@sluice/redis'
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

test('topics of every shard and sums are shared over clusters of ioredis 5 and 6', async () => {
  const topics = ['a', 'b', 'c', 'd', 'e', 'f']
  const shards = new Set(await Promise.all(topics.map((topic) => cluster.masterOf(hashSlot(`{${topic}}`)))))
  expect(shards.size).toBe(3)
  const all = members.map(({ redis, client }) => {
    const channel = redis.redisChannel(client, { tickMs: 10 })
    const sums = redis.redisSums(client, { name: 'hits', tickMs: 10 })
    const heard: Record<string, string> = {}
    for (const topic of topics) {
      channel.subscribe(topic, (bytes) => {
        heard[topic] = (heard[topic] ?? '') + Buffer.from(bytes).toString()
      })
    }
    return { channel, sums, heard }
  })
  for (const [at, { channel, sums }] of all.entries()) {
    for (const topic of topics) for (const letter of 'xyz') channel.publish(topic, Buffer.from(`${letter}${at}`))
    for (let n = 0; n < 100; n++) sums.add('all', n)
  }
  await until(() =>
    all.every(({ sums, heard }) => sums.get('all') === 9_900 && topics.every((topic) => heard[topic]?.length === 6)),
  )
  for (const [at, { heard }] of all.entries()) {
    const other = 1 - at
    expect(heard).toEqual(Object.fromEntries(topics.map((topic) => [topic, `x${other}y${other}z${other}`])))
  }
  await Promise.all(all.flatMap(({ channel, sums }) => [channel.close(), sums.close()]))
})
