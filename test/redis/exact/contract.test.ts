import { afterAll, beforeAll, describe, test } from '@jest/globals'
import type { Backend, Clock, ScriptRunner } from '@sluice/limiter-core'
import { type RedisClient, redisBackend } from '@sluice/redis'
import { backendContract } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
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

type AnyRedis = Redis | Redis5

describe.each<[string, (port: number) => AnyRedis]>([
  ['ioredis 6', (port) => new Redis({ port, lazyConnect: true })],
  ['ioredis 5', (port) => new Redis5({ port, lazyConnect: true })],
])('redisBackend over %s', (_, connect) => {
  let client: AnyRedis

  beforeAll(async () => {
    client = connect(server.port)
    await client.connect()
  })

  afterAll(() => client.disconnect())

  backendContract({ describe, test }, (clock) => made(client, clock))
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
