import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, test } from '@jest/globals'
import type { Clock } from '@sluice/limiter-core'
import { type RedisClient, redisBackend } from '@sluice/redis'
import { backendContract, type FakeClock } from '@sluice/testkit'
import { type IncrexProxy, startIncrexProxy } from '../../services/redis/increx-proxy.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { type Connected, historiesOver, singleServerClients } from '../connected-clients.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

const redis = redisForTests()

/** Redis expires keys at whole milliseconds, so that the numbers are those of the models only if the clock has them. */
function inWholeMs(clock: FakeClock): FakeClock {
  const advance = clock.advance.bind(clock)
  clock.advance = (ms) => advance(Math.ceil(ms))
  return clock
}

describe.each(singleServerClients)('redisBackend with native commands over %s', (name, connect) => {
  let proxy: IncrexProxy
  let connected: Connected
  let clock: Clock | undefined

  beforeAll(async () => {
    proxy = await startIncrexProxy(redis.server.port, { serverTime: () => clock?.now() ?? 0 })
    connected = await connect(proxy.port)
  })

  afterAll(async () => {
    connected.close()
    await proxy.stop()
  })

  const made = (client: RedisClient, ofTest: Clock) => {
    clock = inWholeMs(ofTest as FakeClock)
    return redisBackend(client, {
      prefix: ownPrefix(),
      serverTime: () => ofTest.now(),
      clock: ofTest,
      nativeCommands: true,
    })
  }

  backendContract({ describe, test }, (ofTest) => made(connected.client, ofTest), {
    keepsHolds: true,
    booksTurns: true,
    ...historiesOver(name),
  })

  test('the contract has used the command', () => {
    assert.ok(proxy.received > 100, `${proxy.received} commands`)
  })
})
