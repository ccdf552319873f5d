import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import { systemClock } from '@sluice/limiter-core/backend'
import { createRedisCluster } from '@sluice/redis'
import { counterContract } from '@sluice/testkit'
import type { Cluster } from 'ioredis'
import { eventually } from '../services/eventually.ts'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'
import { type RedisCluster, startRedisCluster } from '../services/redis/redis-cluster.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

describe('counters in a Redis Cluster', () => {
  let cluster: RedisCluster
  let postgres: PostgresServer
  let client: Cluster
  let made = 0

  beforeAll(async () => {
    ;[cluster, postgres] = await Promise.all([startRedisCluster(), startPostgres()])
    client = createRedisCluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })))
  })
  afterAll(async () => {
    client.disconnect()
    await postgres.stop()
    await cluster.stop()
  })

  counterContract(
    { describe, test },
    (clock) => {
      const ledger = new MemoryLedger(systemClock)
      const name = `c${++made}`
      return { open: () => redisCounters(client, { name, ledger, clock }), close: () => {} }
    },
    { durable: false },
  )

  test('keep everything that was flushed, and count nothing twice, when a replica is promoted', async () => {
    const ledger = postgresLedger(postgres.pool())
    await ledger.migrate()
    const counters = redisCounters(client, { name: 'takeover', ledger, flushMs: '1h', partitions: 16 })
    const ids = Array.from({ length: 60 }, (_, index) => `id:${index}`)
    for (const id of ids) await counters.increment(id, 2)
    await counters.flush()
    for (const id of ids) await counters.increment(id, 1, { token: `token of ${id}` })
    await cluster.nodes[0].kill()
    const answered = (id: string): Promise<boolean> =>
      counters.increment(id, 1, { token: `second token of ${id}` }).then(
        () => true,
        () => false,
      )
    for (const id of ids) await eventually(() => answered(id), { what: `an answer for ${id}` })
    const flushed = (): Promise<boolean> =>
      counters.flush().then(
        () => true,
        () => false,
      )
    await eventually(flushed, { what: 'a flush' })
    expect(await counters.aggregate('id:')).toBe(ids.length * 4)
    for (const id of ids) expect((await counters.read(id)).value).toBe(4)
    await counters.close()
  })
})

describe('counters in several Redis servers', () => {
  let servers: RedisServer[]
  let made = 0

  beforeAll(async () => {
    servers = await Promise.all([startRedis(), startRedis(), startRedis()])
  })
  afterAll(() => Promise.all(servers.map((server) => server.stop())))

  counterContract(
    { describe, test },
    (clock) => {
      const [a, b, c] = servers.map((server) => server.client())
      const ledger = new MemoryLedger(systemClock)
      const name = `c${++made}`
      return { open: () => redisCounters({ a, b, c }, { name, ledger, clock, partitions: 2 }), close: () => {} }
    },
    { durable: false },
  )

  test('keep the sum when a server is added, and the others continue when one is lost', async () => {
    const [a, b, c] = servers.map((server) => server.client())
    const ledger = new MemoryLedger(systemClock)
    const options = { name: 'added', ledger, flushMs: '1h', waitMs: '2s' } as const
    const ids = Array.from({ length: 100 }, (_, index) => `id:${index}`)
    const before = redisCounters({ a, b }, options)
    for (const id of ids) await before.increment(id)
    const after = redisCounters({ a, b, c }, options)
    for (const id of ids) await after.increment(id)
    await before.flush()
    expect(await after.aggregate('id:')).toBe(200)
    await servers[2].kill()
    const counted = await Promise.allSettled(ids.map((id) => after.increment(id)))
    const refused = counted.filter(({ status }) => status === 'rejected').length
    expect(refused).toBeGreaterThan(10)
    expect(refused).toBeLessThan(60)
    await servers[2].start()
  })
})
