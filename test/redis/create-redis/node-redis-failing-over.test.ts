import { afterEach, describe, expect, test } from '@jest/globals'
import { hashSlot, type RedisClient, scriptRunner } from '@sluice/redis'
import { eventually } from '../../services/eventually.ts'
import { freePort } from '../../services/free-port.ts'
import { startProxy } from '../../services/proxies/tcp-proxy.ts'
import { NODE_TIMEOUT_MS, startRedisCluster } from '../../services/redis/redis-cluster.ts'
import { startSentinel } from '../../services/redis/sentinel.ts'
import { nodeRedisOnMajor } from './on-major.ts'

const SET = { name: 'set', text: "return redis.call('SET', KEYS[1], 'value')" }
const majors = [5, 6] as const
const running: { stop(): Promise<void> }[] = []
const clients: { destroy(): unknown }[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) await client.destroy()
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

/** Writes a key once, through the script runner of the client. */
const write = (client: unknown, key: string): Promise<unknown> =>
  scriptRunner(client as RedisClient).run(SET, [key], [])

/** Waits until each client has written. */
async function written(key: string, timeoutMs: number): Promise<void> {
  const all = clients.map((client) =>
    eventually(
      () =>
        write(client, key).then(
          () => true,
          () => false,
        ),
      { what: `a write of ${key}`, timeoutMs },
    ),
  )
  await Promise.all(all)
}

describe('clients of node-redis 5 and 6', () => {
  test.each(['kill', 'pause'] as const)('write to the new primary that Sentinel announces (%s)', async (how) => {
    const sentinel = await startSentinel({ downAfterMs: 500 })
    running.push(sentinel)
    for (const major of majors) clients.push((await nodeRedisOnMajor(major)).createNodeRedisSentinel(sentinel.options))
    await written('key', 5_000)
    const died = await sentinel.master()
    await died[how]()
    await eventually(async () => (await sentinel.master()) !== died, { what: 'a new primary' })
    await written('key', 10_000)
    if (how === 'pause') await sentinel.demotes(died)
    await written('key', 10_000)
  })

  test('of a cluster count the first decision, connect as soon as a node can be reached, and keep using the other shards when one loses its primary', async () => {
    const cluster = await startRedisCluster()
    running.push(cluster)
    for (const major of majors) {
      const { createNodeRedisCluster } = await nodeRedisOnMajor(major)
      const early = createNodeRedisCluster([{ host: '127.0.0.1', port: cluster.ports[0] }])
      clients.push(early)
      await write(early, 'first')
      const path = await startProxy(await freePort())
      running.push(path)
      const errors: Error[] = []
      const onError = (error: Error): number => errors.push(error)
      const late = createNodeRedisCluster([{ host: '127.0.0.1', port: path.port }], { onError })
      clients.push(late)
      await eventually(async () => errors.length > 1, { what: 'attempts to connect' })
      await expect(write(late, 'key')).rejects.toMatchObject({ code: 'CONNECTION' })
      path.retarget(cluster.ports[0])
      await written('key', 5_000)
    }

    const [lost, kept] = ['a', 'b']
    await written(lost, 5_000)
    await written(kept, 5_000)
    const died = await cluster.masterOf(hashSlot(lost))
    expect(await cluster.masterOf(hashSlot(kept))).not.toBe(died)
    await died.kill()
    for (const client of clients) {
      await expect(write(client, lost)).rejects.toMatchObject({ code: 'CONNECTION', keyOnly: true })
      await write(client, kept)
    }
    await written(lost, NODE_TIMEOUT_MS + 5_000)
  })
})
