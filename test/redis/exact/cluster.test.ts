import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { hashSlot, redisBackend } from '@sluice/redis'
import { backendContract } from '@sluice/testkit'
import type { Cluster } from 'ioredis'
import { type RedisCluster, startRedisCluster } from '../../services/redis/redis-cluster.ts'
import { chargeOf, hour, minute, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'

let cluster: RedisCluster
let client: Cluster

beforeAll(async () => {
  cluster = await startRedisCluster()
  client = cluster.client()
  if (client.status !== 'ready') await once(client, 'ready')
})

afterAll(() => cluster.stop())

describe('redisBackend on a cluster', () => {
  backendContract(
    { describe, test },
    (clock) => redisBackend(client, { prefix: ownPrefix(), serverTime: () => clock.now(), clock }),
    { keepsHolds: true, booksTurns: true },
  )

  test('takes with keys in several slots admit exactly what the scarcest policy has, and charge nothing extra to the others', async () => {
    const backend = redisBackend(client, { prefix: ownPrefix() })
    const keys = Array.from({ length: 40 }, (_, index) => `user ${index}`)
    expect(new Set(keys.map((key) => hashSlot(`{${key}}`))).size).toBeGreaterThan(30)
    const deadlineAt = performance.now() + 20_000
    const answers = await Promise.all(
      keys.map((key) =>
        backend.takeAll(
          [chargeOf(backend, hour, 'team'), chargeOf(backend, minute, key), chargeOf(backend, minute, 'scarce')],
          { deadlineAt },
        ),
      ),
    )
    const allowed = answers.map(({ verdicts }) => verdicts.every((verdict) => verdict.allowed))
    expect(allowed.filter(Boolean)).toHaveLength(minute.limit)
    expect(await remaining(backend, hour, 'team')).toBe(hour.limit - minute.limit)
    for (const [index, key] of keys.entries())
      expect(await remaining(backend, minute, key)).toBe(allowed[index] ? 4 : 5)
  })

  test('resets keys in many slots together', async () => {
    const backend = redisBackend(client, { prefix: ownPrefix() })
    const charges = Array.from({ length: 20 }, (_, index) => chargeOf(backend, minute, `key ${index}`, 5))
    await Promise.all(charges.map((charge) => backend.takeAll([charge])))
    await backend.resetAll(charges)
    for (const { key } of charges) expect(await remaining(backend, minute, key)).toBe(5)
  })
})
