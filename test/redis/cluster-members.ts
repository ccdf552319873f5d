import { afterAll, beforeAll, expect } from '@jest/globals'
import { hashSlot } from '@sluice/redis'
import type { Cluster } from 'ioredis'
import { type RedisCluster, startRedisCluster } from '../services/redis/redis-cluster.ts'
import { redisOnMajor } from './create-redis/on-major.ts'

type SluiceRedis = typeof import('@sluice/redis')

/** Topics that cover all three shards. */
const topics = ['a', 'b', 'c', 'd', 'e', 'f']

interface ClusterMembers {
  /** One client of ioredis 5 and one of ioredis 6, each with the copy of the package that uses it. */
  readonly members: readonly { readonly redis: SluiceRedis; readonly client: Cluster }[]
  /** Returns the topics after checking that they cover all shards. */
  topicsOfAllShards(): Promise<readonly string[]>
  /** A plain ioredis client. */
  plainClient(): ReturnType<RedisCluster['client']>
}

/** A cluster for the tests of one file, and clients for two processes. */
export function clusterMembers(): ClusterMembers {
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
  return {
    members,
    plainClient: () => cluster.client(),
    async topicsOfAllShards() {
      const shards = new Set(await Promise.all(topics.map((topic) => cluster.masterOf(hashSlot(`{${topic}}`)))))
      expect(shards.size).toBe(3)
      return topics
    },
  }
}
