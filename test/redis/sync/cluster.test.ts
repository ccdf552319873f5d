import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Backend, createLimiter, type Decision, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import {
  createRedisCluster,
  hashSlot,
  leasedBackend,
  redisBackend,
  type SyncedBackendOptions,
  syncedBackend,
} from '@sluice/redis'
import { backendContract } from '@sluice/testkit'
import type { Cluster } from 'ioredis'
import { type RedisCluster, startRedisCluster } from '../../services/redis/redis-cluster.ts'
import { ownPrefix } from '../exact/own-prefix.ts'
import { eventually } from '../inflight/fleet.ts'

const PARTITIONS = 16
const policy: PolicyInput = { name: 'api', limit: 100, window: '1h', algorithm: 'fixed-window' }
const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`)

let cluster: RedisCluster
let client: Cluster
const backends: Backend[] = []

beforeAll(async () => {
  cluster = await startRedisCluster()
  client = createRedisCluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })))
  if (client.status !== 'ready') await once(client, 'ready')
})

afterAll(async () => {
  for (const backend of backends) await backend.close?.()
  client?.disconnect()
  await cluster?.stop()
})

function synced(options: SyncedBackendOptions, limit = 100): Limiter<Decision> {
  const backend = syncedBackend(client, {
    partitions: PARTITIONS,
    tickMs: 100,
    gapMs: 20,
    silentMs: 1_000,
    nodes: 2,
    ...options,
  })
  backends.push(backend)
  return createLimiter({ policies: [{ ...policy, limit, backend }], scope: 'shared', shared: true })
}

describe('syncedBackend on a cluster', () => {
  backendContract(
    { describe, test },
    (clock) =>
      syncedBackend(client, {
        ...{ burst: 1, nodes: 1, partitions: PARTITIONS, prefix: ownPrefix(), clock },
        serverTime: () => clock.now(),
      }),
    { algorithms: ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] },
  )

  test('uses few slots for all of its partitions', async () => {
    expect(() => syncedBackend(client)).toThrow(
      expect.objectContaining({
        code: 'SLUICE_BAD_OPTION',
        message: expect.stringContaining('partitions: expected a number'),
      }),
    )
    const prefix = ownPrefix()
    const limiter = synced({ prefix })
    for (const key of keys) limiter.take(key)
    await eventually(async () => (await storedNames(prefix)).length, keys.length)
    const slots = new Set((await storedNames(prefix)).map(hashSlot))
    expect(slots.size).toBeLessThanOrEqual(PARTITIONS)
  })

  test.each([
    ['redisBackend', redisBackend],
    ['leasedBackend', leasedBackend],
  ])('shares its counts with a %s that has the same number of partitions', async (_name, backendOf) => {
    const prefix = ownPrefix()
    const limiter = synced({ prefix, nodes: 1 })
    const backend: Backend = backendOf(client, { prefix, partitions: PARTITIONS })
    backends.push(backend)
    const other = createLimiter({ policies: [{ ...policy, backend }], scope: 'shared', deadlineMs: 5_000 })
    for (const key of keys) limiter.take(key, 20)
    for (const key of keys) {
      await eventually(async () => (await other.peek(key)).binding.remaining <= 80, true)
      await other.take(key, 50)
    }
    await backend.close?.()
    for (const key of keys) {
      await eventually(() => {
        limiter.take(key, 1)
        return limiter.peek(key).binding.remaining <= 29
      }, true)
    }
  })

  test('still counts the keys of two masters while a third is down, and counts all keys after its replica has taken over', async () => {
    const prefix = ownPrefix()
    const limiter = synced({ prefix }, 1_000_000)
    for (const key of keys) limiter.take(key, 250_000)
    await eventually(async () => (await storedNames(prefix)).length, keys.length)
    const master = await cluster.masterOf(hashSlot(`${prefix}:{p0}:`))
    const id = await cluster.idOf(master)
    await replicated()
    await master.kill()
    // some of those keys are its own, the others are not
    await eventually(() => sourcesOf(limiter), 'local,synced', { timeoutMs: 20_000 })
    await cluster.takeOver(id)
    await eventually(() => sourcesOf(limiter), 'synced', { timeoutMs: 60_000 })
    // earlier usage is still counted
    for (const key of keys) expect(limiter.peek(key).binding.remaining).toBeLessThanOrEqual(750_000)
  })
})

/** Sources of the decisions for the keys. */
function sourcesOf(limiter: Limiter<Decision>): string {
  return [...new Set(keys.map((key) => limiter.take(key).source))].sort().join()
}

async function storedNames(prefix: string): Promise<string[]> {
  const found = await Promise.all(client.nodes('master').map((node) => node.keys(`${prefix}:{p*}:{*`)))
  return found.flat()
}

/** Waits until every replica has all data of its master. */
async function replicated(): Promise<void> {
  await Promise.all(client.nodes('master').map((node) => node.wait(1, 5_000)))
}
