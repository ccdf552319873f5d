import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { describe, expect, jest, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import {
  createRedisCluster,
  leasedBackend,
  type NodeRedisClient,
  type RedisClient,
  redisBackend,
  type ScriptRunner,
} from '@sluice/redis'
import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { Redis as Valkey } from 'iovalkey'
import { createClient, createClientPool, createCluster } from 'redis'
import {
  createClient as createClient5,
  createClientPool as createClientPool5,
  createCluster as createCluster5,
} from 'redis5'
import { forTests } from '../services/for-tests.ts'
import { startRedisCluster } from '../services/redis/redis-cluster.ts'
import { redisForTests } from '../services/redis/redis-for-tests.ts'

const PROCESSES = 4
const TAKES = 500
const LIMIT = 1_000
/** Timeout of glide in milliseconds: its default of 250 is too short for 2,000 concurrent takes. */
const PATIENT = { requestTimeout: 20_000 }

/** The part of node-redis that the test uses. */
interface NodeRedis extends NodeRedisClient {
  connect(): Promise<unknown>
  destroy(): void
}

interface Connected {
  readonly client: RedisClient | ScriptRunner
  close(): void
}

async function overNodeRedis(made: unknown): Promise<Connected> {
  const client = made as NodeRedis
  await client.connect()
  return { client, close: () => client.destroy() }
}

/** A runner that does not say that it is clustered. */
async function overUnsaid(made: unknown): Promise<Connected> {
  const { client, close } = await overNodeRedis(made)
  const run: ScriptRunner['run'] = (script, keys, args) =>
    (client as NodeRedis).eval(script.text, { keys: [...keys], arguments: args.map(String) })
  return { client: { run }, close }
}

async function overGlide(made: Promise<GlideClient | GlideClusterClient>): Promise<Connected> {
  const client = await made
  return { client, close: () => client.close() }
}

async function overIoredis(client: { disconnect(): void }): Promise<Connected> {
  await once(client as Redis, 'ready')
  return { client: client as unknown as RedisClient, close: () => client.disconnect() }
}

/** Units that all clients together admit, for one key of each of several users. */
async function admitted(
  connect: () => Promise<Connected>,
  make: typeof redisBackend,
  users: number,
): Promise<number[]> {
  const scope = randomUUID()
  const connected = await Promise.all(Array.from({ length: PROCESSES }, connect))
  const limiters = connected.map(({ client }) =>
    createLimiter({
      scope,
      policies: [{ name: 'shared', algorithm: 'fixed-window', limit: LIMIT, window: '1h' }],
      backend: make(client),
      onBackendError: 'deny',
      deadlineMs: 20_000,
    }),
  )
  const counts = Array.from({ length: users }, async (_, user) => {
    const taken = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: TAKES }, () => limiter.take(`user ${user}`))),
    )
    expect(taken.filter(({ counted }) => !counted)).toHaveLength(0)
    return taken.filter(({ allowed }) => allowed).length
  })
  const admitted = await Promise.all(counts)
  await Promise.all(limiters.map((limiter) => limiter.close()))
  for (const { close } of connected) close()
  return admitted
}

describe('on one server', () => {
  const redis = redisForTests()

  const url = () => `redis://127.0.0.1:${redis.server.port}`
  const clients: readonly (readonly [string, () => Promise<Connected>])[] = [
    ['node-redis 6', () => overNodeRedis(createClient({ url: url(), disableOfflineQueue: true }))],
    ['node-redis 5', () => overNodeRedis(createClient5({ url: url(), disableOfflineQueue: true }))],
    ['a pool of node-redis 6', () => overNodeRedis(createClientPool({ url: url() }))],
    ['a pool of node-redis 5', () => overNodeRedis(createClientPool5({ url: url() }))],
    [
      'glide',
      () =>
        overGlide(
          GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port: redis.server.port }], ...PATIENT }),
        ),
    ],
    ['iovalkey', () => overIoredis(new Valkey(redis.server.port))],
    ['ioredis 6', () => overIoredis(new Redis(redis.server.port))],
    ['ioredis 5', () => overIoredis(new Redis5(redis.server.port))],
  ]

  test.each(clients)('%s counts exactly', async (_, connect) => {
    expect(await admitted(connect, redisBackend, 1)).toEqual([LIMIT])
  })

  test.each(clients)('%s never leases more than the limit', async (_, connect) => {
    const [units] = await admitted(connect, leasedBackend as typeof redisBackend, 1)
    expect(units).toBeLessThanOrEqual(LIMIT)
    expect(units).toBeGreaterThan(LIMIT * 0.6)
  })
})

describe('on a cluster', () => {
  const cluster = forTests(
    () => startRedisCluster(),
    (one) => one.stop(),
  )

  const rootNodes = () => cluster.current.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }))
  const nodes = () => cluster.current.ports.map((port) => ({ host: '127.0.0.1', port }))

  test.each([
    ['node-redis 6', () => overNodeRedis(createCluster({ rootNodes: rootNodes() }))],
    ['node-redis 5', () => overNodeRedis(createCluster5({ rootNodes: rootNodes() }))],
    ['glide', () => overGlide(GlideClusterClient.createClient({ addresses: nodes(), ...PATIENT }))],
    ['ioredis 6', () => overIoredis(createRedisCluster(nodes()))],
  ] as const)('%s counts exactly', async (_, connect) => {
    expect(await admitted(connect, redisBackend, 3)).toEqual([LIMIT, LIMIT, LIMIT])
  })

  test.each([
    ['exactly', redisBackend],
    ['in leases', leasedBackend as typeof redisBackend],
  ] as const)('a runner without the cluster flag counts %s, and logs one line about it', async (_, make) => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const connect = () => overUnsaid(createCluster({ rootNodes: rootNodes() }))
    for (const units of await admitted(connect, make, 3)) {
      expect(units).toBeLessThanOrEqual(LIMIT)
      expect(units).toBeGreaterThan(make === redisBackend ? LIMIT - 1 : LIMIT * 0.6)
    }
    const codes = warned.mock.calls.map(([, options]) => (options as { code?: string }).code)
    expect(codes).toEqual(Array(PROCESSES).fill('SLUICE_CLUSTER_RUNNER'))
    warned.mockRestore()
  })
})
