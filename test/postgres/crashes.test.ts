import { beforeEach, expect, test } from '@jest/globals'
import { type Charge, type Policy, type PriorUsage, systemClock } from '@sluice/limiter-core/backend'
import { type PostgresBackend, postgresBackend } from '@sluice/postgres'
import { openedCounter, until } from '@sluice/testkit'
import { eventually } from '../services/eventually.ts'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { ownSchema } from './own-schema.ts'

const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: 10, windowMs: 3_600_000 }

const postgres = postgresForTests({ fsync: false })
let schema: string
let backend: PostgresBackend

beforeEach(async () => {
  schema = ownSchema()
  backend = postgresBackend(postgres.pool, { schema, durable: true })
  await backend.migrate()
})

const chargeOf = (cost: number, known?: PriorUsage): Charge => ({
  key: 'a',
  counter: openedCounter(backend, 'crashes', hour),
  cost,
  known,
})

async function used(): Promise<number> {
  return 10 - (await backend.peekAll([chargeOf(0)])).verdicts[0].remaining
}

/** Usage of the key as reported at a time of this process. */
function reportedAt(at: number, units: number): PriorUsage {
  return { used: units, resetAfterMs: 3_000_000, ageMs: systemClock.now() - at }
}

/** The age of usage is known up to the return time of a reply, so that events must be apart. */
async function pause(): Promise<number> {
  const from = systemClock.now()
  await until(() => systemClock.now() > from + 100)
  return systemClock.now()
}

async function crash(): Promise<void> {
  await pause()
  await postgres.server.restart()
  const answers = () =>
    postgres.pool.query('select 1').then(
      () => true,
      () => false,
    )
  await eventually(answers, { what: 'a server that is back' })
}

test('usage that was lost in a crash is restored from what processes know, once', async () => {
  await backend.takeAll([chargeOf(6)])
  const before = await pause()
  await crash()
  // what an asynchronous commit may lose
  await postgres.pool.query(`truncate ${schema}.limits`)
  await backend.takeAll([chargeOf(1, reportedAt(before, 6))])
  expect(await used()).toBe(7)
  await backend.takeAll([chargeOf(1, reportedAt(before, 3))])
  expect(await used()).toBe(8)
})

test('usage that survived a crash is not raised by usage from before a refund or a reset', async () => {
  const { takenAt } = await backend.takeAll([chargeOf(6)])
  const before = await pause()
  await pause()
  await backend.adjustAll([chargeOf(-4)], takenAt)
  await crash()
  await backend.takeAll([chargeOf(1, reportedAt(before, 6))])
  expect(await used()).toBe(3)
  await backend.resetAll([chargeOf(0)])
  await backend.takeAll([chargeOf(1, reportedAt(before, 6))])
  expect(await used()).toBe(1)
})

test('units that a process admitted during an outage are counted once, up to the limit', async () => {
  await backend.takeAll([chargeOf(3)])
  const admitted = { uncounted: 2, unsure: 4, upTo: 6, ageMs: 0 }
  await backend.takeAll([chargeOf(1, { used: 0, resetAfterMs: 3_000_000, admitted })])
  // 3 counted, 2 uncounted, 3 of the unsure units up to 6, and 1
  expect(await used()).toBe(9)
})
