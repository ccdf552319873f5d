import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { type AccountChange, type QuotaTable, stateHash } from '@sluice/counters/backend'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import type { Pool } from 'pg'
import { eventually } from '../../services/eventually.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'

let postgres: PostgresServer
let pool: Pool

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  pool = postgres.pool()
  await postgresLedger(pool).migrate()
})
afterAll(() => postgres.stop())

/** Returns a change from the previous version, with one entry. */
function change(name: string, key: string, version: number, more: Partial<AccountChange> = {}): AccountChange {
  return {
    name,
    key,
    version,
    state: `${version}`,
    basedOn: version === 1 ? undefined : stateHash(`${version - 1}`),
    from: 0,
    until: Number.MAX_SAFE_INTEGER,
    dueAt: undefined,
    token: undefined,
    entries: [{ kind: 'taken', token: `${version}`, ref: null, units: version, period: null }],
    usage: [{ hour: 0, units: 1, stranded: 0, toppedUp: 0 }],
    notices: [],
    ...more,
  }
}

const tables: Readonly<Record<string, () => QuotaTable>> = {
  memory: () => new MemoryLedger(systemClock).openQuotas(),
  PostgreSQL: () => postgresLedger(pool).openQuotas(),
}

describe.each(Object.keys(tables))('changes that are written together in %s', (kind) => {
  test.each<readonly [string, Partial<AccountChange>]>([
    ['is of an old version', { version: 1, basedOn: undefined }],
    ['is of a later version', { version: 3 }],
    ['is based on another state', { basedOn: stateHash('other') }],
    ['has a used token', { token: '1' }],
    ['is too late', { until: 1 }],
  ])('are all written or, if one of them %s, none', async (why, more) => {
    const table = tables[kind]()
    const accounts = ['x', 'y'].map((name) => ({ name, key: why }))
    const first = await table.commit([change('x', why, 1), change('y', why, 1)], true)
    expect(first.written).toEqual([true, true])
    const second = await table.commit([change('x', why, 2), change('y', why, 2, more)], true)
    expect(second.written).toEqual([false, false])
    expect((await table.read(accounts)).accounts.map(({ version }) => version)).toEqual([1, 1])
    const mixed = await table.commit([change('x', why, 2), change('z', why, 1), change('y', why, 2)], true)
    expect(mixed.written).toEqual([true, true, true])
    const entries = await table.entries({ name: 'x', key: why, after: 0, limit: 10 })
    expect(entries.map(({ units }) => units)).toEqual([1, 2])
    const usage = await table.usage({ name: 'x', key: why, from: 0, until: 1, after: undefined, limit: 10 })
    expect(usage.map(({ units }) => units)).toEqual([2])
  })
})

test('no account is written if another process creates one of them at the same time', async () => {
  const table = postgresLedger(pool).openQuotas()
  const other = await pool.connect()
  await other.query('begin')
  await other.query(
    `insert into sluice.quota_accounts (name, key, version, state, updated_at) values ('y', 'race', 1, 'other', now())`,
  )
  const committed = table.commit([change('x', 'race', 1), change('y', 'race', 1), change('z', 'race', 1)], true)
  await eventually(
    async () => {
      const { rows } = await pool.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)
      return rows.length > 0
    },
    { what: 'the wait for the other process' },
  )
  await other.query('commit')
  other.release()
  expect((await committed).written).toEqual([false, false, false])
  const { accounts } = await table.read(['x', 'y', 'z'].map((name) => ({ name, key: 'race' })))
  expect(accounts.map(({ name, state }) => [name, state])).toEqual([['y', 'other']])
})
