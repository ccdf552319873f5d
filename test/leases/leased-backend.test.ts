import { once } from 'node:events'
import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { leasedBackend } from '@sluice/redis'
import { backendContract, type FakeClock } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { redisForTests } from '../services/redis/redis-for-tests.ts'

const redis = redisForTests()
let prefixes = 0

describe.each([
  ['ioredis 6', Redis, {}],
  ['ioredis 5', Redis5 as unknown as typeof Redis, { histories: 2 }],
])('leasedBackend over %s with limits too small to lease', (_name, Client, histories) => {
  let client: Redis

  beforeAll(() => {
    client = new Client(redis.server.port)
    return once(client, 'ready')
  })

  afterAll(() => client.disconnect())

  backendContract(
    { describe, test },
    (clock) =>
      leasedBackend(client, {
        prefix: `contract-${prefixes++}`,
        fraction: 0.005,
        clock,
        serverTime: () => (clock as FakeClock).now(),
      }),
    { keepsHolds: true, booksTurns: true, ...histories },
  )
})
