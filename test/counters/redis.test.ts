import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { redisCounters } from '@sluice/counters/redis'
import { systemClock } from '@sluice/limiter-core/backend'
import { counterContract } from '@sluice/testkit'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

describe('counters in Redis', () => {
  let redis: RedisServer
  let made = 0

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  counterContract(
    { describe, test },
    (clock) => {
      const client = redis.client()
      const ledger = new MemoryLedger(systemClock)
      const name = `c${++made}`
      return { open: () => redisCounters(client, { name, ledger, clock }), close: () => void client.disconnect() }
    },
    { durable: false },
  )
})
