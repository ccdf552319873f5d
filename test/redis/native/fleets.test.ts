import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { createRedisCluster, type NodeRedisClient, type RedisClient, redisBackend } from '@sluice/redis'
import { GlideClusterClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { createCluster, createSentinel } from 'redis'
import { createCluster as createCluster5, createSentinel as createSentinel5 } from 'redis5'
import { eventually } from '../../services/eventually.ts'
import { forTests } from '../../services/for-tests.ts'
import { type IncrexProxy, startIncrexProxy } from '../../services/redis/increx-proxy.ts'
import { type RedisCluster, startRedisCluster } from '../../services/redis/redis-cluster.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { type Sentinel, startSentinel } from '../../services/redis/sentinel.ts'
import { type Connected, singleServerClients } from '../connected-clients.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

const PROCESSES = 4
const TAKES = 150
const LIMIT = 300
const USERS = ['a', 'b', 'c']

async function nodeRedis(
  client: NodeRedisClient & { connect(): Promise<unknown>; destroy(): unknown },
): Promise<Connected> {
  await client.connect()
  return { client, close: () => void client.destroy() }
}

async function ioredis(client: { disconnect(): void }): Promise<Connected> {
  await once(client as Redis, 'ready')
  return { client: client as unknown as RedisClient, close: () => client.disconnect() }
}

/**
 * Fails unless four processes, which take at the same time with native commands, admit the limit of each user exactly.
 * `share` is the smallest part of the takes that must be commands. On a busy machine more of them are scripts.
 */
async function countsExactly(
  connect: () => Promise<Connected>,
  proxies: readonly IncrexProxy[],
  share: number = 0.1,
): Promise<void> {
  const prefix = ownPrefix()
  const connected = await Promise.all(Array.from({ length: PROCESSES }, connect))
  const limiters = connected.map(({ client }) =>
    createLimiter({
      scope: 'fleet',
      policies: [{ name: 'shared', algorithm: 'fixed-window', limit: LIMIT, window: '1h' }],
      backend: redisBackend(client, { prefix, nativeCommands: true }),
      onBackendError: 'deny',
      deadlineMs: 20_000,
    }),
  )
  // the first call reads the clock of each server
  await Promise.all(limiters.flatMap((limiter) => USERS.map((user) => limiter.take(user))))
  const received = () => proxies.reduce((sum, proxy) => sum + proxy.received, 0)
  const before = received()
  for (const user of USERS) {
    const takes = limiters.flatMap((limiter) => Array.from({ length: TAKES }, () => limiter.take(user)))
    const taken = await Promise.all(takes)
    expect(taken.filter(({ counted }) => !counted)).toHaveLength(0)
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(LIMIT - PROCESSES)
  }
  // a take is a script once a second for each server and process
  expect(received() - before).toBeGreaterThanOrEqual(USERS.length * PROCESSES * TAKES * share)
  await Promise.all(limiters.map((limiter) => limiter.close()))
  for (const { close } of connected) close()
}

describe('native commands on one server', () => {
  const redis = redisForTests()
  const proxy = forTests(
    () => startIncrexProxy(redis.server.port),
    (one) => one.stop(),
  )

  test.each(singleServerClients)('%s counts exactly', async (_, connect) => {
    await countsExactly(() => connect(proxy.current.port), [proxy.current])
  })

  test.each(singleServerClients)('%s applies a refund right after its take', async (_, connect) => {
    const { client, close } = await connect(proxy.current.port)
    const backend = redisBackend(client, { prefix: ownPrefix(), nativeCommands: true })
    const limiter = createLimiter({
      policies: [{ name: 'refunded', algorithm: 'fixed-window', limit: 1, window: '1h' }],
      backend,
      onBackendError: 'deny',
      deadlineMs: 20_000,
    })
    await limiter.take('first')
    const before = proxy.current.received
    const left = Array.from({ length: 500 }, async (__, index) => {
      const { takenAt } = await limiter.take(`key ${index}`)
      await limiter.charge(`key ${index}`, -1, takenAt)
      const { binding } = await limiter.peek(`key ${index}`)
      return binding.remaining
    })
    expect(new Set(await Promise.all(left))).toEqual(new Set([1]))
    expect(proxy.current.received - before).toBeGreaterThan(250)
    await limiter.close()
    await backend.close?.()
    close()
  })
})

describe('native commands behind Sentinel', () => {
  let sentinel: Sentinel
  let proxy: IncrexProxy

  beforeAll(async () => {
    sentinel = await startSentinel()
    proxy = await startIncrexProxy(sentinel.nodes[0].port)
    const admin = sentinel.watcher.client()
    const { name } = sentinel.options
    await admin.call('SENTINEL', 'REMOVE', name)
    await admin.call('SENTINEL', 'MONITOR', name, '127.0.0.1', String(proxy.port), '1')
  })

  afterAll(async () => {
    await proxy.stop()
    await sentinel.stop()
  })

  const nodes = () => ({ name: sentinel.options.name, sentinelRootNodes: [...sentinel.options.sentinels] })
  test.each([
    ['ioredis 6', () => ioredis(new Redis({ ...sentinel.options }))],
    ['node-redis 6', () => nodeRedis(createSentinel(nodes()))],
    ['node-redis 5', () => nodeRedis(createSentinel5(nodes()))],
  ] as const)('%s counts exactly', async (_, connect) => {
    await countsExactly(connect, [proxy])
  })
})

describe('native commands on a cluster', () => {
  let cluster: RedisCluster
  let proxies: readonly IncrexProxy[]

  beforeAll(async () => {
    cluster = await startRedisCluster()
    proxies = await Promise.all(cluster.nodes.map((node) => startIncrexProxy(node.port)))
    const admins = cluster.nodes.map((node) => node.client())
    const ports = proxies.map(({ port }) => port)
    await Promise.all(admins.map((one, at) => one.config('SET', 'cluster-announce-port', String(ports[at]))))
    const knowsProxies = async (one: (typeof admins)[number]): Promise<boolean> => {
      const slots = await one.cluster('SLOTS')
      return slots.every(([, , ...nodes]) => nodes.every(([, port]) => ports.includes(port)))
    }
    await eventually(async () => (await Promise.all(admins.map(knowsProxies))).every(Boolean), {
      what: 'a cluster of proxies',
    })
  })

  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await cluster.stop()
  })

  const nodes = () => proxies.map(({ port }) => ({ host: '127.0.0.1', port }))
  const rootNodes = () => proxies.map(({ url }) => ({ url }))
  const glide = async (): Promise<Connected> => {
    const client = await GlideClusterClient.createClient({ addresses: nodes(), requestTimeout: 20_000 })
    return { client, close: () => client.close() }
  }
  test.each([
    ['ioredis 6', () => ioredis(createRedisCluster(nodes()))],
    ['node-redis 6', () => nodeRedis(createCluster({ rootNodes: rootNodes() }))],
    ['node-redis 5', () => nodeRedis(createCluster5({ rootNodes: rootNodes() }))],
    ['valkey-glide', glide],
  ] as const)('%s counts exactly, also where a server lacks the command', async (_, connect) => {
    for (const proxy of proxies) proxy.hasCommand = true
    await countsExactly(connect, proxies)
    proxies[0].hasCommand = false
    await countsExactly(connect, proxies, 0)
  })
})
