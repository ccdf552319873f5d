import { eventually } from '../../../services/eventually.ts'
import { during } from '../../fleet.ts'
import type { Findings } from '../../report/findings.ts'
import type { Form, Row } from '../../report/row.ts'
import { type CounterBench, countThrough } from '../counter-bench.ts'

const MIB = 2 ** 20
/** Larger than a file of the write-ahead log, so that only tables run out of space. */
const TABLE_BYTES = 17 * MIB
/** Size limit below the 16 MB of a write-ahead log file, and above the size of all other files written meanwhile. */
const LOG_BYTES = 5 * MIB
/** The warning that PostgreSQL is out of space when a batch fails. */
const BATCH = 'STATEMENT:  with moved'

/** PostgreSQL is out of space, for tables or for its write-ahead log. Simulated by a limit on its file sizes. */
export const fullDisk: readonly Row<CounterBench>[] = [
  { id: 'R52', fault: 'no room for the log of changes of PostgreSQL (PANIC) for 5 s, counters', run: panics },
  { id: 'R52', fault: 'no room for tables of PostgreSQL for 10 s, counters', run: refusesRows },
]

/** PostgreSQL cannot run without its log: it shuts down, and cannot start before there is space. */
async function panics(bench: CounterBench, findings: Findings, form: Form): Promise<void> {
  const { postgres, pool } = bench
  // a new log file, because the previous one may have little space left
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

/** Increments of existing rows still succeed. New rows fail, and delay the other rows of their batch. */
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
        // sessions have started pages of their own
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

/** Restarts PostgreSQL without files above its size limit. */
async function limited({ postgres, pool }: CounterBench, maxFileBytes: number): Promise<void> {
  await pool.query("delete from sluice.counters where name = 'filler'")
  await pool.query('vacuum full sluice.counters')
  await pool.query('checkpoint')
  await postgres.shutDown()
  await postgres.start({ maxFileBytes })
}

/** Inserts unused counter rows until even the smallest row does not fit. Returns the error of PostgreSQL. */
async function fill({ pool }: CounterBench): Promise<string> {
  const text = `insert into sluice.counters select 'filler', lpad(one::text, $3::int, '0'), 0, 1, now(), now(), false
from generate_series($1::int, $2::int) as one`
  let [at, refusal] = [0, '']
  // small statements may still fit where a large one did not
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
