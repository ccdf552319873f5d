import { rmSync } from 'node:fs'
import * as jest from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import { redisRecords } from '@sluice/redis'
import { Cluster } from 'ioredis'
import { ownRedis } from '../redis/channel/own-redis.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../services/postgres/embedded-template.ts'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { startNode } from '../services/processes/child-node.ts'
import { type RedisCluster, startRedisCluster } from '../services/redis/redis-cluster.ts'
import { recordSuite } from './record-suite.ts'

const { afterAll, beforeAll, describe, expect, test } = jest

describe('records in memory', () => {
  const ledger = new MemoryLedger(systemClock)
  recordSuite(jest, (name) => ledger.openRecords(name))
})

describe('records in PostgreSQL', () => {
  const postgres = postgresForTests()
  beforeAll(async () => {
    await postgresLedger(postgres.server.pool()).migrate()
  })
  recordSuite(jest, (name) => postgresLedger(postgres.server.pool()).openRecords(name))

  test('are removed from the table after they have ended', async () => {
    const store = postgresLedger(postgres.server.pool()).openRecords('removed')
    for (const id of ['one', 'two']) await store.put(id, 'ended', Date.now() - 1)
    await store.put('last', 'text', Date.now() + 60_000)
    const { rows } = await postgres.server.pool().query("select id from sluice.records where name = 'removed'")
    expect(rows).toEqual([{ id: 'last' }])
  })
})

describe('records in Redis', () => {
  const redis = ownRedis()
  recordSuite(jest, (name) => redisRecords(redis.client, { name }))

  test('expire together with their keys', async () => {
    const store = redisRecords(redis.client, { name: 'expiring', prefix: 'own' })
    await store.put('one', 'text', Date.now() + 60_000)
    const left = await Promise.all(['', ':ends'].map((end) => redis.client.pttl(`own:{expiring}:records${end}`)))
    for (const ms of left) expect(ms).toBeGreaterThan(50_000)
    await store.put('one', 'text', Date.now() - 60_000)
    expect(await redis.client.keys('own:*')).toEqual([])
  })

  test.each([
    ['an unknown option', { nam: 'x' }, 'SLUICE_BAD_OPTION'],
    ['a name with braces', { name: '{x}' }, 'SLUICE_BAD_MESSAGE'],
    ['an empty prefix', { prefix: '' }, 'SLUICE_BAD_OPTION'],
  ])('reject %s', (_what, options, code) => {
    expect(() => redisRecords(redis.client, options as never)).toThrow(expect.objectContaining({ code }))
  })
})

describe('records in a Redis Cluster', () => {
  let cluster: RedisCluster
  let client: Cluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
    client = new Cluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })))
  })
  afterAll(async () => {
    client.disconnect()
    await cluster.stop()
  })
  recordSuite(jest, (name) => redisRecords(client, { name }))
})

test('records in an embedded ledger pass the suite, and outlast the process', async () => {
  const folder = memoryFolder('sluice-records-')
  copyEmbeddedTemplate(folder)
  const options = { nodeArgs: EMBEDDED_ARGS }
  const start = () =>
    startNode<typeof import('./children/embedded-records.ts')>('records/children/embedded-records.ts', options)
  const first = start()
  const failures = await first.call('suite', folder)
  await first.stop()
  expect(failures).toEqual([])
  const second = start()
  expect(await second.call('stored', folder)).toEqual(['kept'])
  await second.stop()
  rmSync(folder, { recursive: true, force: true })
})
