import type { Clock, SqlRunner } from '@sluice/limiter-core'
import type { AccountChange } from '../ledger/quota-table.ts'
import { stateHash } from '../ledger/state-hash.ts'
import type { SqlLedger } from './sql-ledger.ts'

const NAME = 'sluice rehearsal'
const KEY = 'key'

/** A round of four calls that takes less is fast enough for a decision, which needs two of them within 50 ms. */
const WARM_MS = 25
/** Maximum duration of all rounds. */
const LONGEST_MS = 1_000

/**
 * Runs the statements of quotas and counters until they are fast, and rolls them back. PGlite and V8 compile each part
 * of PostgreSQL when it is first used, and again in the background when it is used often, which takes longer than the
 * deadline of a decision. `sql` must have a single connection that no other caller uses meanwhile. Ignores failures,
 * e.g. of a full disk: calls meet the same failures and report them.
 */
export async function rehearse(ledger: SqlLedger, sql: SqlRunner, clock: Clock): Promise<void> {
  await sql.query('begin')
  try {
    await runCounters(ledger)
    const until = clock.now() + LONGEST_MS
    for (let round = 1, fast = 0; fast < 2 && clock.now() < until; round++) {
      const from = clock.now()
      await runQuotas(ledger, `${KEY} ${round}`)
      fast = clock.now() - from < WARM_MS ? fast + 1 : 0
    }
  } catch {
    // see above
  } finally {
    await sql.query('rollback')
  }
}

async function runQuotas(ledger: SqlLedger, key: string): Promise<void> {
  const quotas = ledger.openQuotas()
  for (const version of [1, 2] as const) {
    const { now } = await quotas.read([{ name: NAME, key }])
    await quotas.commit([changeAt(now, key, version)])
  }
}

async function runCounters(ledger: SqlLedger): Promise<void> {
  const counters = ledger.open(NAME)
  for (const number of [1, 2]) {
    await counters.apply({ writer: NAME, number, deltas: [{ id: KEY, amount: 1, ageMs: 0 }], groups: [] })
  }
  await counters.read([KEY], NAME)
}

/** Returns a change that creates or updates an account, with an entry and usage. */
function changeAt(now: number, key: string, version: 1 | 2): AccountChange {
  const state = String(version)
  return {
    name: NAME,
    key,
    version,
    state,
    basedOn: version === 1 ? undefined : stateHash('1'),
    from: now,
    until: now + 60_000,
    dueAt: now,
    token: `${key} ${state}`,
    entries: [{ kind: 'stranded', token: `${key} ${state}`, ref: null, units: 1, period: '' }],
    usage: [{ hour: now, units: 1, stranded: 0, toppedUp: 0 }],
    notices: [],
  }
}
