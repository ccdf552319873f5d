import { eventually } from '../../../services/eventually.ts'
import type { Findings } from '../../findings.ts'
import { during } from '../../fleet.ts'
import type { Form, Row } from '../../row.ts'
import { type CounterBench, countThrough } from '../counter-bench.ts'

const MIB = 2 ** 20
/** More than a file of the log of changes has, so that tables are what has no room. */
const TABLE_BYTES = 17 * MIB
/** Of a file of the log of changes, which is to have 16 MB; and more than other files have that are written meanwhile. */
const LOG_BYTES = 5 * MIB
/** How PostgreSQL names a batch that failed. */
const BATCH = 'STATEMENT:  with moved'

/** PostgreSQL has no room left, be it for tables or for its log of changes. A limit on the size of its files stands for that. */
export const fullDisk: readonly Row<CounterBench>[] = [
  { id: 'R52', fault: 'no room for the log of changes of PostgreSQL (PANIC) for 5 s, counters', run: panics },
  { id: 'R52', fault: 'no room for tables of PostgreSQL for 10 s, counters', run: refusesRows },
]

/** The log is what PostgreSQL cannot do without: it ends itself, and does not come back before there is room. */
async function panics(bench: CounterBench, findings: Findings, form: Form): Promise<void> {
  const { postgres, pool } = bench
  // a file of its own: what the one before has left may be less
  await pool.query('select pg_switch_wal()')
  await limited(bench, LOG_BYTES)
  const before = postgres.output.length
  const panic = () => /PANIC: .*/.exec(postgres.output.slice(before))?.[0]
  const fault = () =>
    during(
      form === 'long' ? 5_000 : 500,
      async () => {
        await fill(bench)
        await eventually(async () => panic() !== undefined, { what: 'a panic' })
      },
      async () => {
        await postgres.kill()
        await postgres.start()
      },
    )
  await countThrough(bench, findings, { form, fault })
  findings.note(panic() ?? '')
}

/** Rows that are there are still counted under; new ones have no place, and hold up what is in a batch with them. */
async function refusesRows(bench: CounterBench, findings: Findings, form: Form): Promise<void> {
  const { postgres } = bench
  await limited(bench, TABLE_BYTES)
  const before = postgres.output.length
  let refusal = ''
  const fault = () =>
    during(
      form === 'long' ? 10_000 : 1_100,
      async () => {
        refusal = await fill(bench)
        // sessions have begun pages of their own
        await eventually(async () => postgres.output.slice(before).includes(BATCH), { what: 'a batch that fails' })
      },
      async () => {
        await postgres.shutDown()
        await postgres.start()
      },
    )
  const { tiers } = await countThrough(bench, findings, { form, fault })
  findings.note(refusal)
  const calls = tiers.flatMap(({ reports }) => reports.flatMap((report) => report.calls))
  const refused = calls.filter(({ kind, code }) => kind === 'durable' && code !== undefined)
  findings.atLeast('durable ones refused', refused.length, 1)
}

/** Starts PostgreSQL again, without a file that is larger than its limit. */
async function limited({ postgres, pool }: CounterBench, maxFileBytes: number): Promise<void> {
  await pool.query("delete from sluice.counters where name = 'filler'")
  await pool.query('vacuum full sluice.counters')
  await pool.query('checkpoint')
  await postgres.shutDown()
  await postgres.start({ maxFileBytes })
}

/** Writes rows of counters that nobody uses until there is no room for the least. Answers how PostgreSQL refuses that. */
async function fill({ pool }: CounterBench): Promise<string> {
  const text = `insert into sluice.counters select 'filler', lpad(one::text, $3::int, '0'), 0, 1, now(), now(), false
from generate_series($1::int, $2::int) as one`
  let [at, refusal] = [0, '']
  // what a large statement leaves is room for small ones
  for (const [rows, length] of [
    [1_000, 250],
    [50, 250],
    [1, 250],
    [1, 8],
  ] as const) {
    for (refusal = ''; refusal === ''; at += rows)
      refusal = await refusalOf(pool.query(text, [at, at + rows - 1, length]))
  }
  return refusal
}

function refusalOf(query: Promise<unknown>): Promise<string> {
  return query.then(
    () => '',
    (error: unknown) => String(error),
  )
}
