import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import type { Findings } from '../../report/findings.ts'
import type { Form, Row } from '../../report/row.ts'
import type { CounterBench } from '../counter-bench.ts'
import type { Tier } from '../counting-fleet.ts'

const RETRIES = 8
const WAIT_MS = 5_000

/** A batch that clients retry before it is answered. */
export const retries: readonly Row<CounterBench>[] = [
  { ...row('in a process'), onlyLong: true },
  row('in Redis'),
  { id: 'R54', fault: 'the statement of a batch of 10,000 ids', run: takesStatement, onlyLong: true },
]

function row(tier: Tier): Row<CounterBench> {
  return {
    id: 'R54',
    fault: `${RETRIES} retries of one batch of 10,000 ids at once, 3 processes that count ${tier}`,
    run: (bench, findings, form) => retriesAtOnce(bench, findings, { tier, form }),
  }
}

async function retriesAtOnce(
  { fleet, redis, postgres, pool }: CounterBench,
  findings: Findings,
  { tier, form }: { readonly tier: Tier; readonly form: Form },
): Promise<void> {
  const ids = idsOf(form === 'long' ? 10_000 : 2_000)
  const site = { postgresUrl: postgres.url, redisUrl: redis.url, waitMs: WAIT_MS, flushMs: 1_000 }
  const name = await fleet.openAll(tier, site)
  for (const [index, what] of ['new ids', 'the same again'].entries()) {
    const batch = { ids, token: `batch ${index}` }
    const answers = await Promise.all(
      Array.from({ length: RETRIES }, (_, at) => fleet.apps[at % fleet.apps.length]?.call('countBatch', batch)),
    )
    const codes = answers.flatMap((answer) => answer?.code ?? [])
    findings.exactly(`${what}: counted`, answers.filter((answer) => answer?.counted).length, 1)
    findings.always(`refused by ${codes.join(', ')}`, codes.length === 0)
    findings.atMost('slowest', Math.max(...answers.map((answer) => answer?.ms ?? Number.NaN)), WAIT_MS, ' ms')
    const text = "select count(*), min(value), max(value) from sluice.counters where name = $1 and id like 'item %'"
    const [{ count, min, max }] = (await pool.query(text, [name])).rows
    const values = [count, min, max].map(Number)
    findings.always(
      `${values[0]} ids of ${values[1]} to ${values[2]} units`,
      String(values) === `${ids.length},${index + 1},${index + 1}`,
    )
  }
}

/** Measures PostgreSQL and the round trip alone. */
async function takesStatement({ pool }: CounterBench, findings: Findings): Promise<void> {
  const table = postgresLedger(pool).open('statement')
  for (const [index, what] of ['new ids', 'known ids'].entries()) {
    const deltas = idsOf(10_000).map((id) => ({ id, amount: 1, ageMs: 0 }))
    const from = systemClock.now()
    await table.apply({ writer: 'one', number: index + 1, deltas, groups: [] })
    findings.atMost(what, systemClock.now() - from, 2_000, ' ms')
  }
}

function idsOf(length: number): readonly string[] {
  return Array.from({ length }, (_, index) => `item ${index}`)
}
