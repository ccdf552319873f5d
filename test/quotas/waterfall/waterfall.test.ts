import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, quota, waterfall } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { waterfallSuite } from './waterfall-suite.ts'

describe('waterfalls in memory', () => {
  waterfallSuite({ describe, expect, test }, async () => ({
    ledger: new MemoryLedger(new FakeClock()),
    scope: 'tests',
  }))
})

describe('waterfalls in PostgreSQL', () => {
  let postgres: PostgresServer
  let pool: Pool
  let scopes = 0

  beforeAll(async () => {
    postgres = await startPostgres({ fsync: false })
    pool = postgres.pool({ max: 8 })
    await postgresLedger(pool).migrate()
  })
  afterAll(() => postgres.stop())

  waterfallSuite({ describe, expect, test }, async () => ({
    ledger: postgresLedger(pool),
    scope: `scope-${++scopes}`,
  }))

  test('over the same quotas in opposite orders never deadlock, also while accounts are created', async () => {
    const clock = new FakeClock()
    const processes = Array.from({ length: 4 }, () => {
      const quotas = createQuotas(postgresLedger(postgres.pool({ max: 8 })), { clock, waitMs: '1h' })
      const parts = ['x', 'y', 'z'].map((name) => quota({ name, limit: 40, per: 'month', backend: quotas }))
      const limiter = createLimiter({ policies: parts, clock, scope: 'order', deadlineMs: 60_000 })
      const orders = [parts, parts.toReversed()].map((order) => waterfall(order, { scope: 'order' }))
      return { quotas, limiter, orders }
    })
    const keys = Array.from({ length: 12 }, (_, index) => `key ${index}`)
    const takes = keys.flatMap((key) =>
      processes.flatMap(({ orders, limiter }) => [
        ...orders.map(async (plan) => ((await plan.take(key, 50)).allowed ? 50 : 0)),
        Promise.resolve(limiter.take(key, 1)).then(({ allowed }) => (allowed ? 3 : 0)),
      ]),
    )
    const units = (await Promise.all(takes)).reduce<number>((sum, taken) => sum + taken, 0)
    let used = 0
    for (const key of keys) {
      for (const policy of ['x', 'y', 'z']) {
        used += (await processes[0].quotas.balance(key, { policy, scope: 'order' })).used
      }
    }
    expect(units).toBeGreaterThanOrEqual(keys.length * 100)
    expect(used).toBe(units)
    const { rows } = await postgres.pool().query('select sum(deadlocks)::int as deadlocks from pg_stat_database')
    expect(rows).toEqual([{ deadlocks: 0 }])
    await Promise.all(processes.map(({ quotas }) => quotas.close()))
  }, 60_000)
})
