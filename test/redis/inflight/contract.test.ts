import { describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightBackend, type InflightLimiter } from '@sluice/limiter-core'
import { inflightContract } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { forTests } from '../../services/for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { clients, Fleet } from './fleet.ts'

const redis = redisForTests()
const fleet = forTests(
  () => new Fleet(redis.server.port),
  (one) => one.close(),
)
let made = 0

describe.each(clients)('redisInflight over %s', (_, Client) => {
  let client: Redis | undefined

  inflightContract({ describe, test }, async ({ limit, clock, observers, maxHoldMs }) => {
    client ??= await fleet.current.client(Client)
    const backend = fleet.current.backend(client, {
      clock,
      serverTime: () => clock.now(),
      prefix: `contract-${made++}`,
      // the clock of the contract tests jumps over years, and no server answers a thousand heartbeats in that instant
      leaseMs: '3650d',
    })
    return closingBoth(createInflightLimiter({ limit, backend, clock, observers, maxHoldMs }), backend)
  })

  test('used the server during all tests', async () => {
    const calls = /cmdstat_evalsha:calls=(\d+)/.exec((await client?.info('commandstats')) ?? '')
    expect(Number(calls?.[1])).toBeGreaterThan(500)
    await client?.config('RESETSTAT')
  })
})

function closingBoth(limiter: InflightLimiter, backend: InflightBackend): InflightLimiter {
  return {
    name: limiter.name,
    limit: limiter.limit,
    limitOf: (key) => limiter.limitOf(key),
    acquire: (key, options) => limiter.acquire(key, options),
    count: (key) => limiter.count(key),
    close: async () => {
      await limiter.close()
      await backend.close?.()
    },
  }
}
