import { afterAll, beforeAll, describe, test } from '@jest/globals'
import type { Backend, Clock, ScriptRunner } from '@sluice/limiter-core'
import { type NodeRedisClient, type RedisClient, redisBackend } from '@sluice/redis'
import { backendContract } from '@sluice/testkit'
import { GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { Redis as Valkey } from 'iovalkey'
import { createClient, createClientPool } from 'redis'
import { createClient as createClient5 } from 'redis5'
import { type RedisServer, startRedis } from '../../services/redis-server.ts'
import { ownPrefix } from './own-prefix.ts'
import { RawRunner } from './raw-runner.ts'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

function made(client: RedisClient | ScriptRunner, clock: Clock): Backend {
  return redisBackend(client, { prefix: ownPrefix(), serverTime: () => clock.now(), clock })
}

interface Connected {
  readonly client: RedisClient
  close(): void
}

async function ioredis(client: Redis | Redis5 | Valkey): Promise<Connected> {
  await client.connect()
  return { client, close: () => client.disconnect() }
}

async function nodeRedis(
  client: NodeRedisClient & { connect(): Promise<unknown>; destroy(): void },
): Promise<Connected> {
  await client.connect()
  return { client, close: () => client.destroy() }
}

async function glide(port: number): Promise<Connected> {
  const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }] })
  return { client, close: () => client.close() }
}

const urlOf = (port: number) => ({ url: `redis://127.0.0.1:${port}` })

describe.each<[string, (port: number) => Promise<Connected>]>([
  ['ioredis 6', (port) => ioredis(new Redis({ port, lazyConnect: true }))],
  ['ioredis 5', (port) => ioredis(new Redis5({ port, lazyConnect: true }))],
  ['iovalkey', (port) => ioredis(new Valkey({ port, lazyConnect: true }))],
  ['node-redis 6', (port) => nodeRedis(createClient(urlOf(port)))],
  ['node-redis 5', (port) => nodeRedis(createClient5(urlOf(port)))],
  ['a pool of node-redis 6', (port) => nodeRedis(createClientPool(urlOf(port)))],
  ['valkey-glide', glide],
])('redisBackend over %s', (_, connect) => {
  let connected: Connected

  beforeAll(async () => {
    connected = await connect(server.port)
  })

  afterAll(() => connected.close())

  backendContract({ describe, test }, (clock) => made(connected.client, clock))
})

describe('redisBackend over another client', () => {
  let runner: RawRunner

  beforeAll(async () => {
    runner = new RawRunner(server.port)
    await runner.ready()
  })

  afterAll(() => runner.close())

  backendContract({ describe, test }, (clock) => made(runner, clock))
})
