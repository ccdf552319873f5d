import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { NODE_TIMEOUT_MS, type RedisCluster, startRedisCluster } from './redis-cluster.ts'

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startRedisCluster()
})

afterAll(() => cluster?.stop())

test('serves every slot from three masters', async () => {
  const client = cluster.client()
  const keys = Array.from({ length: 200 }, (_, index) => `key ${index}`)
  await Promise.all(keys.map((key) => client.set(key, key)))
  expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys)
  const masters = await Promise.all([0, 8_000, 16_383].map((slot) => cluster.masterOf(slot)))
  expect(masters).toEqual(cluster.nodes.slice(0, 3))
})

test('a replica takes the place of a master that is killed', async () => {
  const [first] = cluster.nodes
  await first?.kill()
  const hasMaster = () => cluster.findMaster(0).then(Boolean)
  await eventually(hasMaster, { timeoutMs: 5 * NODE_TIMEOUT_MS, what: 'a new master' })
  expect(await cluster.masterOf(0)).toBe(cluster.nodes[3])
})
