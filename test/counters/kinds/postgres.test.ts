import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { type Counters, createCounters, shardedCounters, windowedCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import { counterContract, type FakeClock, seededRandom } from '@sluice/testkit'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

let postgres: PostgresServer
let pool: Pool
let redis: RedisServer
let made = 0

beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  pool = postgres.pool()
  await postgresLedger(pool).migrate()
})
afterAll(async () => {
  await postgres.stop()
  await redis.stop()
})

const { next } = seededRandom(1)

describe.each([
  ['sharded', (counters: Counters): Counters => shardedCounters(counters, { shards: 4, random: next })],
  [
    'windowed',
    (counters: Counters, clock: FakeClock): Counters =>
      windowedCounters(counters, { window: '1d', grain: '6h', clock }),
  ],
] as const)('%s counters', (kind, wrapped) => {
  describe('in PostgreSQL', () => {
    counterContract({ describe, test }, (clock) => {
      const name = `${kind}-${++made}`
      return {
        open: () => wrapped(createCounters({ name, ledger: postgresLedger(pool), clock }), clock),
        close: () => {},
      }
    })
  })

  describe('in Redis before PostgreSQL', () => {
    counterContract({ describe, test }, (clock) => {
      const client = redis.client()
      const name = `${kind}-hot-${++made}`
      return {
        open: () => wrapped(redisCounters(client, { name, ledger: postgresLedger(pool), clock }), clock),
        close: () => void client.disconnect(),
      }
    })
  })
})
