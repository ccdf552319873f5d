import { afterEach, describe, expect, test } from '@jest/globals'
import { hashSlot } from '@sluice/redis'
import type { Cluster, Redis } from 'ioredis'
import { eventually } from '../../services/eventually.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { NODE_TIMEOUT_MS, startRedisCluster } from '../../services/redis/redis-cluster.ts'
import { startSentinel } from '../../services/redis/sentinel.ts'
import { redisOnMajor } from './on-major.ts'

const majors = [5, 6] as const
const running: { stop(): Promise<void> }[] = []
const clients = endedAfterEach<Redis | Cluster>((client) => client.disconnect())

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

/** Waits until each client has written. */
async function written(key: string, timeoutMs: number): Promise<void> {
  await Promise.all(
    clients.map((client) =>
      eventually(
        () =>
          client.set(key, 'value').then(
            () => true,
            () => false,
          ),
        { what: `a write of ${key}`, timeoutMs },
      ),
    ),
  )
}

describe('clients of ioredis 5 and 6', () => {
  test('write to the new primary within 2 s after Sentinel announces it', async () => {
    const sentinel = await startSentinel({ downAfterMs: 500 })
    running.push(sentinel)
    for (const major of majors) clients.push((await redisOnMajor(major)).createRedis(sentinel.options))
    await written('key', 2_000)
    const died = await sentinel.master()
    await died.kill()
    await eventually(async () => (await sentinel.master()) !== died, { what: 'a new primary' })
    await written('key', 2_000)
  })

  test('keep using the other shards of a cluster when one loses its primary, and find its successor', async () => {
    const cluster = await startRedisCluster()
    running.push(cluster)
    const nodes = cluster.ports.map((port) => ({ host: '127.0.0.1', port }))
    for (const major of majors) clients.push((await redisOnMajor(major)).createRedisCluster(nodes))
    const [lost, kept] = ['a', 'b']
    await written(lost, 5_000)
    await written(kept, 5_000)
    const died = await cluster.masterOf(hashSlot(lost))
    expect(await cluster.masterOf(hashSlot(kept))).not.toBe(died)
    await died.kill()
    const outcomes = clients.map((client) => client.set(lost, 'value'))
    expect((await Promise.allSettled(outcomes)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await Promise.all(clients.map((client) => client.set(kept, 'value')))
    await written(lost, NODE_TIMEOUT_MS + 5_000)
  })
})
