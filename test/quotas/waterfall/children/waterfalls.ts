import { appendFileSync, readFileSync } from 'node:fs'
import type { CounterLedger } from '@sluice/counters'
import { embeddedLedger, postgresLedger, type SqlLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import {
  createQuotas,
  credits,
  type Quotas,
  quota,
  type Waterfall,
  type WaterfallTake,
  waterfall,
} from '@sluice/quotas'
import { seededRandom } from '@sluice/testkit'
import { Pool } from 'pg'
import { type Failures, suiteInFolder } from '../../children/suite-in-folder.ts'
import { waterfallSuite } from '../waterfall-suite.ts'
import { WaterfallWalk } from '../waterfall-walk.ts'

// PGlite is an ES module that jest cannot load, so the code that uses it runs in a separate process. It may be killed at
// any time.

export interface TakingSite {
  readonly postgresUrl: string
  /** Folder of an embedded ledger, used instead of PostgreSQL. */
  readonly folder: string | undefined
  /** Log file of this process: the answers of takes, in order. It survives the process. */
  readonly log: string
  /** Begins the idempotency keys of this process. */
  readonly prefix: string
}

export const KEY = 'a'
const CREDITS = 3_000

let ledger: SqlLedger
let quotas: Quotas
let plan: Waterfall
let site: TakingSite

/** Runs the suite of waterfalls on a ledger in a folder, and returns the error of each test that fails. */
export const suite = (folder: string): Promise<Failures> => suiteInFolder(folder, waterfallSuite)

/** Takes random steps on a ledger in a folder, which is closed and opened again at random. */
export async function walk(folder: string, seed: number, steps: number): Promise<void> {
  let last: SqlLedger | undefined
  const reopened = async (): Promise<CounterLedger> => {
    await last?.close()
    last = await embeddedLedger({ folder })
    return last
  }
  await new WaterfallWalk({ random: seededRandom(seed), scope: 'walk', open: reopened, crashes: 0.01 }).run(steps)
  await last?.close()
}

export async function open(given: TakingSite): Promise<void> {
  site = given
  ledger = await ledgerOf(given)
  quotas = createQuotas(ledger, { waitMs: '2s' })
  plan = waterfall([
    quota({ name: 'included', limit: 2_000, per: 'month', backend: quotas }),
    credits({ backend: quotas }),
    quota({ name: 'overage', limit: 1_000_000, per: 'month', backend: quotas }),
  ])
  appendFileSync(given.log, '')
  await topUp()
}

/** Fills the credits once, also if the server restarts meanwhile. */
async function topUp(): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await quotas.topUp(KEY, CREDITS, { policy: 'credits', token: 'invoice' }).then(
      () => true,
      () => false,
    )
    if (!isDone) await new Promise<void>((resolve) => void systemClock.after(10, resolve, { keepAlive: true }))
  }
}

/** Takes units until the process is killed, and logs each answer. An unanswered take is repeated under its key. */
export async function takeForever(): Promise<void> {
  for (;;) await takeNext().catch(() => {})
}

/** Repeats the last take of each log, whose answer may be lost, and returns the used units of the parts. */
export async function audit(): Promise<readonly number[]> {
  await takeNext()
  const names = ['included', 'credits', 'overage']
  return Promise.all(names.map(async (policy) => (await quotas.balance(KEY, { policy })).used))
}

export async function close(): Promise<void> {
  plan.close()
  await quotas.close()
  await ledger.close()
}

/** Takes the units of the next number, sometimes by a reservation; every third take is then refunded by half. */
async function takeNext(): Promise<void> {
  const number = readFileSync(site.log, 'utf8').split('\n').length
  const units = 2 + 2 * (number % 30)
  const options = { idempotencyKey: `${site.prefix} ${number}` }
  const take: WaterfallTake =
    number % 4 === 0
      ? await plan.settle(KEY, units, await plan.reserve(KEY, 100, options))
      : await plan.take(KEY, units, options)
  const refund = number % 3 === 0 ? await plan.refund(KEY, units / 2, take) : { parts: [] }
  appendFileSync(site.log, `${JSON.stringify({ ...take, refunded: refund.parts })}\n`)
  await new Promise<void>((resolve) => void systemClock.after(1, resolve, { keepAlive: true }))
}

function ledgerOf({ folder, postgresUrl }: TakingSite): Promise<SqlLedger> | SqlLedger {
  if (folder !== undefined) return embeddedLedger({ folder })
  const pool = new Pool({ connectionString: postgresUrl, connectionTimeoutMillis: 1_000 })
  pool.on('error', () => {})
  return postgresLedger(pool)
}
