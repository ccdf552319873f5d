import { expect, test } from '@jest/globals'
import type { QuotaTable } from '@sluice/counters/backend'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import { AccountStore } from '../../packages/quotas/src/account/account-store.ts'
import { AccountWrites } from '../../packages/quotas/src/account/account-writes.ts'
import { DatabaseTime } from '../../packages/quotas/src/account/database-time.ts'
import { TimedQuotaTable } from '../../packages/quotas/src/account/timed-quota-table.ts'
import { CalendarPeriods } from '../../packages/quotas/src/calendar/calendar-periods.ts'
import { startPostgres } from '../services/postgres/postgres-server.ts'
import { FaultyQuotaTable } from './faults/faulty-quota-table.ts'

const STORES = 40
const CHANGES = 20
const TERMS = { periods: new CalendarPeriods({ per: 'month', timeZone: 'UTC' }), carryOver: 0, thresholds: [80, 100] }

test('every process makes progress at one key that all of them change at the same time', async () => {
  const postgres = await startPostgres()
  try {
    const pool = postgres.pool({ max: STORES })
    const ledger = postgresLedger(pool)
    await ledger.migrate()
    // connection setup and first queries are not part of the measurement
    await Promise.all(Array.from({ length: STORES }, () => pool.query('select pg_sleep(0.5)')))
    await Promise.all(
      Array.from({ length: 3 * STORES }, (_, key) => {
        const store = storeOf(ledger.openQuotas())
        const id = { name: 'warm', key: String(key) }
        return store.change(id, TERMS, { apply: (account) => account.open(1e9).take(1) })
      }),
    )
    const tries: number[] = []
    const waits: number[] = []
    const changeAll = async (): Promise<void> => {
      let commits = 0
      const counting = { before: (call: string) => void (call === 'commit' && commits++) }
      const table = new FaultyQuotaTable(ledger.openQuotas(), counting)
      const store = storeOf(table)
      for (let i = 0; i < CHANGES; i++) {
        const [from, before] = [systemClock.now(), commits]
        await store.change({ name: 'hot', key: 'a' }, TERMS, { apply: (account) => account.open(1e9).take(1) })
        waits.push(systemClock.now() - from)
        tries.push(commits - before)
      }
    }
    await Promise.all(Array.from({ length: STORES }, changeAll))
    const { rows } = await postgres
      .pool()
      .query('select sum(units)::int as units from sluice.quota_usage where name = $$hot$$')
    expect(rows).toEqual([{ units: STORES * CHANGES }])
    const at = (all: readonly number[], share: number): string =>
      [...all].sort((one, other) => one - other)[Math.floor((all.length - 1) * share)].toFixed(0)
    const line = (name: string, all: readonly number[]): string =>
      `${name} p50 ${at(all, 0.5)}, p99 ${at(all, 0.99)}, most ${at(all, 1)}`
    process.stdout.write(`${STORES} processes at one key: ${line('tries', tries)}; ${line('ms', waits)}\n`)
  } finally {
    await postgres.stop()
  }
}, 300_000)

function storeOf(table: QuotaTable): AccountStore {
  const [clock, time] = [systemClock, new DatabaseTime(systemClock)]
  return new AccountStore(
    new AccountWrites({ table: new TimedQuotaTable(table, clock, 30_000), time, onNotices: () => {} }),
  )
}
