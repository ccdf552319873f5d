import type { PoolClient } from 'pg'
import { eventually } from '../../../services/eventually.ts'
import { during, type FaultTimes } from '../../fleet.ts'
import type { Findings } from '../../report/findings.ts'
import type { Form, Row } from '../../report/row.ts'
import { type CounterBench, countThrough } from '../counter-bench.ts'
import type { Tier } from '../counting-fleet.ts'

/** PostgreSQL is healthy, and other sessions hold locks. */
export const locks: readonly Row<CounterBench>[] = [
  { id: 'R51', fault: "another session holds counters' rows (`for update`) for 10 s", run: waits },
  { id: 'R51', fault: 'another session provokes deadlocks (40P01) with batches of counters', run: deadlocks },
  { ...ends('lock_timeout', '100ms', 'lock timeout'), onlyLong: true },
  { ...ends('statement_timeout', '100ms', 'statement timeout'), onlyLong: true },
  { id: 'R51', fault: 'every transaction serializable (40001), counters', run: conflicts },
]

/** Minimum number of statements that a row makes fail. */
const LEAST = 5

function heldMsIn(form: Form): number {
  return form === 'long' ? 10_000 : 900
}

async function waits(bench: CounterBench, findings: Findings, form: Form): Promise<void> {
  let waiting = 0
  const fault = () =>
    held(bench, heldMsIn(form), async (session) => {
      waiting = await blockedBy(session, bench)
    })
  await countThrough(bench, findings, { form, fault })
  findings.note(`statements that waited for it in the end ${waiting}`)
}

/** A session locks the rows of all counters for the given time. */
async function held(
  { pool }: CounterBench,
  ms: number,
  atEnd: (session: PoolClient) => Promise<void> = async () => {},
): Promise<FaultTimes> {
  const session = await pool.connect()
  try {
    return await during(
      ms,
      async () => {
        await session.query('set lock_timeout = 0; set statement_timeout = 0; begin isolation level read committed')
        await session.query('select from sluice.counters order by name, id for update')
      },
      async () => {
        await atEnd(session)
        await session.query('rollback')
      },
    )
  } finally {
    session.release(true)
  }
}

/**
 * Each time the batch holds row locks, this session waits for one of them and causes a deadlock, which PostgreSQL
 * resolves by ending the batch.
 */
async function deadlocks(bench: CounterBench, findings: Findings, form: Form): Promise<void> {
  const { postgres, pool } = bench
  const before = postgres.output.length
  const provoked = () => occurrences(postgres.output.slice(before), 'deadlock detected')
  const times = form === 'long' ? 10 : 2
  const session = await pool.connect()
  const fault = () =>
    during(
      0,
      async () => {
        for (let time = 0; time < times; time++) {
          await provoke(bench, session, { tier: time % 2 === 0 ? 'in a process' : 'in Redis', provoked })
        }
      },
      () => {},
    )
  try {
    // all ids of a batch are in one partition
    await countThrough(bench, findings, { form, fault, site: { partitions: 1, waitMs: 5_000 } })
  } finally {
    session.release(true)
  }
  findings.atLeast('batches ended by a deadlock', provoked(), times)
}

async function provoke(
  bench: CounterBench,
  session: PoolClient,
  { tier, provoked }: { readonly tier: Tier; readonly provoked: () => number },
): Promise<void> {
  const name = bench.fleet.nameOf(tier)
  const lock = (which: string) =>
    session.query(`select from sluice.counters where name = $1 and id ${which} for update`, [name])
  await session.query("set deadlock_timeout = '1min'")
  await eventually(async () => (await lock("= 'page 9'")).rowCount === 1, { what: 'a row to hold' })
  const before = provoked()
  // a batch may not have locked any row before that one
  while (provoked() === before) {
    await session.query('begin')
    await lock("= 'page 9'")
    await eventually(async () => (await blockedBy(session, bench)) > 0, { what: 'a batch that waits for the row' })
    await lock("< 'page 9'")
    await session.query('rollback')
  }
}

function ends(setting: string, value: string, what: string): Row<CounterBench> {
  return {
    id: 'R51',
    fault: `rows of counters held for 10 s, \`${setting}\` ${value}`,
    run: async (bench, findings, form) => {
      const fault = () => held(bench, heldMsIn(form))
      await withSetting(bench, [setting, value], async () => {
        const before = bench.postgres.output.length
        await countThrough(bench, findings, { form, fault })
        const ended = occurrences(bench.postgres.output.slice(before), `canceling statement due to ${what}`)
        findings.atLeast('statements ended by it', ended, LEAST)
      })
    },
  }
}

/** Several processes count the same ids durably, while another session writes the same rows. */
async function conflicts(bench: CounterBench, findings: Findings, form: Form): Promise<void> {
  const { pool, postgres, fleet } = bench
  const before = postgres.output.length
  const failed = () => occurrences(postgres.output.slice(before), 'could not serialize access')
  let isOver = false
  const rewrite = async (): Promise<void> => {
    const names = [fleet.nameOf('in a process'), fleet.nameOf('in Redis')]
    const text = "update sluice.counters set updated_at = now() where name = any($1) and id in ('durable', 'page 7')"
    while (!isOver) await pool.query(text, [names]).catch(() => {})
  }
  const fault = () => {
    const rewriting = rewrite()
    return during(
      form === 'long' ? 10_000 : 700,
      () => {},
      async () => {
        await eventually(async () => failed() >= LEAST, { what: 'statements that fail to serialize' })
        isOver = true
        await rewriting
      },
    )
  }
  await withSetting(bench, ['default_transaction_isolation', 'serializable'], async () => {
    await countThrough(bench, findings, { form, fault, site: { waitMs: 5_000 } })
    findings.atLeast('statements that failed to serialize', failed(), LEAST)
  })
}

/** Applies to sessions that start from now on. */
async function withSetting(
  { pool }: CounterBench,
  [name, value]: readonly [string, string],
  use: () => Promise<void>,
): Promise<void> {
  await pool.query(`alter role postgres set ${name} = '${value}'`)
  try {
    await use()
  } finally {
    await pool.query(`alter role postgres reset ${name}`)
  }
}

/** Number of statements that wait for locks of a session. */
async function blockedBy(session: PoolClient, { pool }: CounterBench): Promise<number> {
  const { rows } = await session.query('select pg_backend_pid() as pid')
  const text = 'select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))'
  return Number((await pool.query(text, [rows[0].pid])).rows[0].count)
}

function occurrences(text: string, what: string): number {
  return text.split(what).length - 1
}
