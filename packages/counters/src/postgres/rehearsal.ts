import type { SqlRunner } from '@sluice/limiter-core'
import type { AccountChange } from '../ledger/quota-table.ts'
import { stateHash } from '../ledger/state-hash.ts'
import type { SqlLedger } from './sql-ledger.ts'

const NAME = 'sluice rehearsal'
const KEY = 'key'

/**
 * Runs the statements of quotas and counters once and rolls them back. PGlite compiles each part of PostgreSQL when it
 * is first used, which takes longer than the deadline of a decision. `sql` must have a single connection that
 * no other caller uses meanwhile. Ignores failures, e.g. of a full disk: calls meet the same failures and report them.
 */
export async function rehearse(ledger: SqlLedger, sql: SqlRunner): Promise<void> {
  await sql.query('begin')
  try {
    await runStatements(ledger)
  } catch {
    // see above
  } finally {
    await sql.query('rollback')
  }
}

async function runStatements(ledger: SqlLedger): Promise<void> {
  const quotas = ledger.openQuotas()
  const { now } = await quotas.read([{ name: NAME, key: KEY }])
  await quotas.commit([changeAt(now, 1)])
  await quotas.read([{ name: NAME, key: KEY }])
  await quotas.commit([changeAt(now, 2)])
  const counters = ledger.open(NAME)
  for (const number of [1, 2]) {
    await counters.apply({ writer: NAME, number, deltas: [{ id: KEY, amount: 1, ageMs: 0 }], groups: [] })
  }
  await counters.read([KEY], NAME)
}

/** Returns a change that creates or updates an account, with an entry and usage. */
function changeAt(now: number, version: 1 | 2): AccountChange {
  const state = String(version)
  return {
    name: NAME,
    key: KEY,
    version,
    state,
    basedOn: version === 1 ? undefined : stateHash('1'),
    from: now,
    until: now + 60_000,
    dueAt: now,
    token: state,
    entries: [{ kind: 'stranded', token: state, ref: null, units: 1, period: '' }],
    usage: [{ hour: now, units: 1, stranded: 0, toppedUp: 0 }],
    notices: [],
  }
}
