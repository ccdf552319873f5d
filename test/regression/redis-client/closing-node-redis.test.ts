import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Script } from '@sluice/limiter-core'
import { type NodeRedisClient, scriptRunner } from '@sluice/redis'
import { createNodeRedis, createNodeRedisCluster, nodeRedisOptions } from '@sluice/redis/node-redis'
import { createClient as createClient5, createCluster as createCluster5 } from 'redis5'
import { eventually } from '../../services/eventually.ts'
import { onFreePorts } from '../../services/free-port.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

const ONE = { text: 'return 1' } as Script

interface Cluster {
  readonly slots: readonly unknown[]
}

interface Client extends NodeRedisClient {
  close(): Promise<unknown>
  destroy(): void
}

describe('a client of node-redis that is closed', () => {
  const redis = redisForTests()

  const makers: readonly (readonly [string, () => Client])[] = [
    ['6', () => createNodeRedis(`redis://127.0.0.1:${redis.server.port}`)],
    [
      '5',
      () => {
        const client = createClient5({ url: `redis://127.0.0.1:${redis.server.port}`, ...nodeRedisOptions() })
        client.connect().catch(() => {})
        return client
      },
    ],
  ]

  test.each(makers)(
    '(%s) answers the calls that it has sent, and refuses later ones as not counted',
    async (_, make) => {
      const client = make()
      const runner = scriptRunner(client)
      await runner.run(ONE, ['a'], [])
      const sent = Array.from({ length: 50 }, () => runner.run(ONE, ['a'], []))
      const closed = client.close()
      const later = runner.run(ONE, ['a'], [])
      await expect(later).rejects.toMatchObject({ code: 'CONNECTION', mayHaveCounted: false })
      expect(new Set(await Promise.all(sent))).toEqual(new Set([1]))
      await closed
    },
  )
})

describe('a cluster', () => {
  /** A slot without a node. */
  const FREE = 100
  /** A key in this slot. */
  const FREE_KEY = 'key 27875'
  let node: RedisServer

  beforeAll(async () => {
    node = await onFreePorts((port, busPort) =>
      startRedis({
        port,
        args: [
          ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
          ...['--cluster-require-full-coverage', 'no'],
        ],
      }),
    )
    await node.client().cluster('ADDSLOTSRANGE', 0, FREE - 1, FREE + 1, 16_383)
    await eventually(async () => /cluster_state:ok/.test(await node.client().cluster('INFO')), { what: 'a cluster' })
  })

  afterAll(() => node.stop())

  test('that is closed while it connects leaves no connection behind', async () => {
    const admin = node.client()
    const connections = async (): Promise<number> => {
      const list = (await admin.call('CLIENT', 'LIST', 'TYPE', 'normal')) as string
      return list.trim().split('\n').length
    }
    const before = await connections()
    for (let turns = 0; turns < 40; turns++) {
      const cluster = createNodeRedisCluster([{ host: '127.0.0.1', port: node.port }])
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      cluster.destroy()
    }
    await eventually(async () => (await connections()) === before, { what: 'the end of all connections' })
  })

  const makers: readonly (readonly [string, () => Client])[] = [
    ['6', () => createNodeRedisCluster([{ host: '127.0.0.1', port: node.port }]) as unknown as Client],
    [
      '5',
      () => {
        const rootNodes = [{ socket: { host: '127.0.0.1', port: node.port } }]
        const cluster = createCluster5({ rootNodes, defaults: nodeRedisOptions() })
        cluster.on('error', () => {})
        cluster.connect().catch(() => {})
        return cluster as unknown as Client
      },
    ],
  ]

  test.each(makers)('(%s) that was connected before refuses a call for a slot without a node', async (_, make) => {
    const client = make()
    await eventually(async () => (client as unknown as Cluster).slots[0] !== undefined, { what: 'its nodes' })
    const runner = scriptRunner(client)
    await expect(runner.run(ONE, [FREE_KEY], [])).rejects.toMatchObject({ name: 'RedisFailure' })
    const isAnswered = (): Promise<boolean> =>
      runner.run(ONE, ['a'], []).then(
        () => true,
        () => false,
      )
    // a busy machine may reach the socket timeout
    await eventually(isAnswered, { what: 'an answer of the node' })
    client.destroy()
  })
})
