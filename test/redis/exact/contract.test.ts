import { afterAll, beforeAll, describe, test } from '@jest/globals'
import type { Backend, Clock, ScriptRunner } from '@sluice/limiter-core'
import { type RedisClient, redisBackend } from '@sluice/redis'
import { backendContract } from '@sluice/testkit'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { type Connected, historiesOver, singleServerClients } from '../connected-clients.ts'
import { ownPrefix } from './own-prefix.ts'
import { RawRunner } from './raw-runner.ts'

const kept = { keepsHolds: true, booksTurns: true }

const redis = redisForTests()

function made(client: RedisClient | ScriptRunner, clock: Clock): Backend {
  return redisBackend(client, { prefix: ownPrefix(), serverTime: () => clock.now(), clock })
}

describe.each(singleServerClients)('redisBackend over %s', (name, connect) => {
  let connected: Connected

  beforeAll(async () => {
    connected = await connect(redis.server.port)
  })

  afterAll(() => connected.close())

  backendContract({ describe, test }, (clock) => made(connected.client, clock), { ...kept, ...historiesOver(name) })
})

describe('redisBackend over another client', () => {
  let runner: RawRunner

  beforeAll(async () => {
    runner = new RawRunner(redis.server.port)
    await runner.ready()
  })

  afterAll(() => runner.close())

  backendContract({ describe, test }, (clock) => made(runner, clock), { ...kept, histories: 2 })
})
