import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { createCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import { counterContract } from '@sluice/testkit'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

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

describe('counters in PostgreSQL', () => {
  counterContract({ describe, test }, (clock) => {
    const name = `buffered-${++made}`
    return { open: () => createCounters({ name, ledger: postgresLedger(pool), clock }), close: () => {} }
  })
})

describe('counters in Redis before PostgreSQL', () => {
  counterContract({ describe, test }, (clock) => {
    const client = redis.client()
    const name = `hot-${++made}`
    return {
      open: () => redisCounters(client, { name, ledger: postgresLedger(pool), clock }),
      close: () => void client.disconnect(),
    }
  })
})
