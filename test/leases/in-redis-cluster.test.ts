import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Backend, Charge, Policy } from '@sluice/limiter-core'
import { hashSlot, leasedBackend, redisBackend } from '@sluice/redis'
import { openedCounter } from '@sluice/testkit'
import type { Cluster } from 'ioredis'
import { type RedisCluster, startRedisCluster } from '../services/redis/redis-cluster.ts'

const hour: Policy = {
  name: 'hour',
  algorithm: 'fixed-window',
  limit: 200,
  windowMs: 3_600_000,
}
let cluster: RedisCluster
let client: Cluster

function charge(backend: Backend, key: string): Charge {
  return { key, counter: openedCounter(backend, 'leased', hour), cost: 1 }
}

beforeAll(async () => {
  cluster = await startRedisCluster()
  client = cluster.client()
})

afterAll(() => cluster.stop())

describe('leasedBackend on Redis Cluster', () => {
  test('leases keys of all slots together, and two processes together admit exactly the limit of each', async () => {
    const prefix = randomUUID()
    const processes = [1, 2].map(() => leasedBackend(client, { prefix }))
    const keys = Array.from({ length: 12 }, (_, index) => `user-${index}`)
    expect(new Set(keys.map((key) => hashSlot(`${prefix}:{${key}}`))).size).toBeGreaterThan(6)
    // a connection to a node is opened for its first command
    for (const key of keys) await client.get(`${prefix}:{${key}}`)
    const admitted = new Map<string, number>()
    const take = async (index: number, key: string): Promise<void> => {
      const answer = await processes[index].takeAll([charge(processes[index], key)])
      if (answer.verdicts[0].allowed) admitted.set(key, (admitted.get(key) ?? 0) + 1)
    }
    for (let round = 0; round < 130; round++) {
      await Promise.all(keys.flatMap((key) => [take(0, key), take(1, key)]))
    }
    await Promise.all(processes.map((backend) => backend.close?.()))
    const exact = redisBackend(client, { prefix })
    for (const key of keys) {
      expect(admitted.get(key)).toBe(200)
      expect((await exact.peekAll([charge(exact, key)])).verdicts[0].remaining).toBe(0)
    }
    exact.close?.()
  })
})
