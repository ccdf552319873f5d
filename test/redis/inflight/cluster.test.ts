import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightBackend } from '@sluice/limiter-core'
import { adaptive } from '@sluice/overload'
import { hashSlot } from '@sluice/redis'
import { type RedisCluster, startRedisCluster } from '../../services/redis/redis-cluster.ts'
import { eventually, Fleet } from './fleet.ts'

let cluster: RedisCluster
let fleet: Fleet
let a: InflightBackend
let b: InflightBackend

beforeAll(async () => {
  cluster = await startRedisCluster()
  fleet = new Fleet(cluster.ports[0])
  const clients = [cluster.client(), cluster.client()]
  for (const client of clients) if (client.status !== 'ready') await once(client, 'ready')
  ;[a, b] = clients.map((client) => fleet.backend(client, { deadlineMs: 3_000 }))
})

afterAll(async () => {
  await fleet.close()
  await cluster.stop()
})

describe('redisInflight on a cluster', () => {
  test('keys of many slots are acquired at once, each up to its exact limit, and released', async () => {
    const caps = [a, b].map((backend) => createInflightLimiter({ name: 'slots', limit: 3, backend }))
    const keys = Array.from({ length: 60 }, (_, index) => `key ${index}`)
    expect(new Set(keys.map(hashSlot)).size).toBeGreaterThan(50)
    const asked = keys.flatMap((key) => [0, 1, 0, 1].map((cap) => caps[cap].acquire(key)))
    const given = (await Promise.all(asked)).filter((permit) => permit !== undefined)
    expect(given).toHaveLength(3 * keys.length)
    for (const permit of given) permit.release()
    for (const key of keys) await eventually(() => caps[1].count(key), 0)
  })

  test('the limits of keys in many slots are divided', async () => {
    const limit = adaptive({ min: 3, max: 3 })
    const caps = [a, b].map((backend) => createInflightLimiter({ name: 'learned', limit, backend }))
    const keys = Array.from({ length: 60 }, (_, index) => `key ${index}`)
    const acquire = async (key: string, cap: number) => (await caps[cap].acquire(key)) && key
    const asked = keys.flatMap((key) => [0, 1, 0, 1, 0, 1].map((cap) => acquire(key, cap)))
    const given = await Promise.all(asked)
    const held = keys.map((key) => given.filter((one) => one === key).length)
    expect(new Set(held)).toEqual(new Set([3]))
  })
})
