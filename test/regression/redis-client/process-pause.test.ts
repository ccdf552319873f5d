import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import type { Cluster, Redis } from 'ioredis'
import { redisOnMajor } from '../../redis/create-redis/on-major.ts'
import { eventually } from '../../services/eventually.ts'
import { onFreePorts } from '../../services/free-port.ts'
import { blockProcess } from '../../services/processes/block-process.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

const SILENT_MS = 100

let alone: RedisServer
let clustered: RedisServer

beforeAll(async () => {
  alone = await startRedis()
  clustered = await onFreePorts((port, busPort) =>
    startRedis({
      port,
      args: ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-announce-ip', '127.0.0.1'],
    }),
  )
  const admin = clustered.client()
  await admin.cluster('ADDSLOTSRANGE', 0, 16_383)
  await eventually(async () => /cluster_state:ok/.test(String(await admin.cluster('INFO'))), { what: 'a cluster' })
})

afterAll(async () => {
  await alone.stop()
  await clustered.stop()
})

describe.each([5, 6] as const)(
  'a process that is stalled for longer than the socket timeout, on ioredis %i',
  (major) => {
    async function pausedOver(client: Redis | Cluster): Promise<number> {
      let broken = 0
      const nodes = 'nodes' in client ? client.nodes('all') : [client]
      for (const node of nodes) node.on('close', () => broken++)
      for (let pause = 0; pause < 3; pause++) {
        const answer = client.get('key')
        blockProcess(3 * SILENT_MS)
        expect(await answer).toBeNull()
      }
      return broken
    }

    test('processes the answer that arrived meanwhile', async () => {
      const client = (await redisOnMajor(major)).createRedis(alone.url, { socketTimeout: SILENT_MS })
      await until(() => client.status === 'ready')
      expect(await pausedOver(client)).toBe(0)
      client.disconnect()
    })

    test('processes the answer of a cluster', async () => {
      const nodes = [{ host: '127.0.0.1', port: clustered.port }]
      const client = (await redisOnMajor(major)).createRedisCluster(nodes, {
        redisOptions: { socketTimeout: SILENT_MS },
      })
      await until(() => client.status === 'ready')
      await client.get('key')
      expect(await pausedOver(client)).toBe(0)
      client.disconnect()
    })
  },
)
