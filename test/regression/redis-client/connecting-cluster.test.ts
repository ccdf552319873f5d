import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, jest, test } from '@jest/globals'
import { algorithms } from '@sluice/limiter-core/backend'
import { createRedisCluster, redisBackend, redisInflight, type ScriptRunner, scriptRunner } from '@sluice/redis'
import { Cluster, Redis } from 'ioredis'
import { createCluster } from 'redis'
import { eventually } from '../../services/eventually.ts'
import { forTests } from '../../services/for-tests.ts'
import { startRedisCluster } from '../../services/redis/redis-cluster.ts'
import { startRedis } from '../../services/redis/redis-server.ts'

const compiled = algorithms['fixed-window'].compile({
  name: 'api',
  algorithm: 'fixed-window',
  limit: 100,
  windowMs: 3_600_000,
})
const cap = { name: 'cap', limit: 5 }

describe('on a cluster', () => {
  const cluster = forTests(
    () => startRedisCluster(),
    (one) => one.stop(),
  )

  const nodes = () => cluster.current.ports.map((port) => ({ host: '127.0.0.1', port }))
  const users = Array.from({ length: 40 }, (_, user) => `user ${user}`)

  test.each([
    ['createRedisCluster', () => createRedisCluster(nodes())],
    ['Cluster of ioredis', () => new Cluster(nodes())],
    ['Cluster with a lazy connection', () => new Cluster(nodes(), { lazyConnect: true })],
  ])('two backends and caps count from the first call on over a %s', async (_name, connect) => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const client = connect()
    const backends = [1, 2].map(() => redisBackend(client, { prefix: randomUUID() }))
    const counted = backends.map((backend) => ({ backend, counter: backend.open(compiled, 'count') }))
    const caps = redisInflight(client, { prefix: randomUUID(), deadlineMs: 20_000, leaseMs: 60_000 })
    const taken = users.flatMap((user) => [
      ...counted.map(({ counter }) => counter.take(user, 1)),
      ...counted.map(({ backend, counter }) => backend.peekAll([{ key: user, counter, cost: 1 }])),
      Promise.resolve(caps.acquire(user, { cap })),
    ])
    const failed = (await Promise.allSettled(taken)).filter(({ status }) => status === 'rejected')
    expect(failed).toEqual([])
    expect(warned.mock.calls).toEqual([])
    await Promise.all([...backends.map((backend) => backend.close?.()), caps.close?.()])
    client.disconnect()
    warned.mockRestore()
  })

  test('caps over a runner without the cluster flag count there from the first call on', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const client = createCluster({
      rootNodes: cluster.current.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })),
    })
    client.on('error', () => {})
    await client.connect()
    const run: ScriptRunner['run'] = (script, keys, args) =>
      client.eval(script.text, { keys: [...keys], arguments: args.map(String) })
    const prefix = randomUUID()
    const caps = redisInflight({ run }, { prefix, deadlineMs: 20_000, leaseMs: 60_000 })
    const other = redisInflight({ run, clustered: true }, { prefix, deadlineMs: 20_000, leaseMs: 60_000 })
    for (let round = 1; round <= 2; round++) {
      await Promise.all(users.map((user) => caps.acquire(user, { cap })))
      expect(await Promise.all(users.map((user) => other.count?.(user, cap)))).toEqual(users.map(() => round))
    }
    const codes = warned.mock.calls.map(([, options]) => (options as { code?: string }).code)
    expect(codes).toEqual(['SLUICE_CLUSTER_RUNNER'])
    await Promise.all([caps.close?.(), other.close?.()])
    client.destroy()
    warned.mockRestore()
  })
})

test('a reconnect is not a first connection: no call waits for it', async () => {
  const server = await startRedis()
  const client = new Redis(server.port, { retryStrategy: () => 1, connectTimeout: 20_000 })
  client.on('error', () => {})
  await once(client, 'ready')
  const backend = redisBackend(client)
  await server.stop()
  // accepts connections, and never answers
  const silent = createServer(() => {}).listen(server.port, '127.0.0.1')
  await eventually(async () => ['connect', 'connecting'].includes(client.status), { what: 'a later attempt' })
  await eventually(async () => client.status === 'connect', { what: 'a connection that is not ready' })
  await expect(backend.open(compiled, 'count').take('a', 1)).rejects.toMatchObject({ code: 'CONNECTION' })
  expect(scriptRunner(client).clustered).toBe(false)
  await backend.close?.()
  client.disconnect()
  silent.close()
})
