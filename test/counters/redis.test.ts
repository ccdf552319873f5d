import { describe, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { redisCounters } from '@sluice/counters/redis'
import { systemClock } from '@sluice/limiter-core/backend'
import { counterContract } from '@sluice/testkit'
import { redisForTests } from '../services/redis/redis-for-tests.ts'

describe('counters in Redis', () => {
  const redis = redisForTests()
  let made = 0

  counterContract(
    { describe, test },
    (clock) => {
      const client = redis.server.client()
      const ledger = new MemoryLedger(systemClock)
      const name = `c${++made}`
      return { open: () => redisCounters(client, { name, ledger, clock }), close: () => void client.disconnect() }
    },
    { durable: false },
  )
})
