import { appendFileSync, openSync, readFileSync, writeSync } from 'node:fs'
import { embeddedLedger, postgresLedger, type SqlLedger } from '@sluice/counters/postgres'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createQuotas, type QuotaBalance, type Quotas, quota } from '@sluice/quotas'
import { Pool } from 'pg'

// a process that spends quotas, and may be killed at any time

export interface SpendingSite {
  readonly postgresUrl: string
  /** Folder of an embedded ledger, used instead of PostgreSQL. */
  readonly folder?: string | undefined
  /** Log file of allowed takes and top-ups, which survives the process. */
  readonly log: string
  readonly limits: Readonly<Record<string, number>>
  readonly onBackendError?: 'local' | 'allow' | 'deny'
}

/** The state of one key and quota in the database. */
export interface Account {
  readonly policy: string
  readonly balance: QuotaBalance
  /** Units of all usage lines, including the units of lost leases. */
  readonly usage: number
}

export const KEY = 'a'
export const TOP_UP = 3
const SCOPE = 'spending'

let site: SpendingSite
let ledger: SqlLedger
let quotas: Quotas
let limiters: readonly (readonly [policy: string, limiter: Limiter])[] = []

export async function open(given: SpendingSite): Promise<void> {
  site = given
  ledger = await ledgerOf(given)
  quotas = createQuotas(ledger, { leaseMs: 500, waitMs: '1s' })
  appendFileSync(given.log, '')
  limiters = Object.entries(given.limits).map(([name, limit]) => {
    const policies = [quota({ name, limit, per: 'month', backend: quotas })]
    const { onBackendError = 'deny' } = given
    return [name, createLimiter({ policies, scope: SCOPE, deadlineMs: 2_000, onBackendError })]
  })
}

/** Takes units of one quota in `lanes` concurrent sequences. Returns how many were allowed. */
export async function takeMany(policy: string, count: number, lanes: number): Promise<number> {
  const limiter = limiters.find(([name]) => name === policy)?.[1] as Limiter
  let [allowed, left] = [0, count]
  const lane = async (): Promise<void> => {
    while (left-- > 0) if ((await limiter.take(KEY)).allowed) allowed++
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return allowed
}

/** Takes and tops up until the process is killed. */
export function spend(): void {
  const file = openSync(site.log, 'a')
  for (const [policy, limiter] of limiters) {
    void repeat(async () => {
      if ((await limiter.take(KEY)).allowed) writeSync(file, `take ${policy}\n`)
    })
    void repeat(() => topUpNext(policy, file))
  }
}

/**
 * Repeats the last top-up, whose result is unknown, and returns the accounts in the database after all leases have
 * ended.
 */
export async function audit(): Promise<readonly Account[]> {
  const file = openSync(site.log, 'a')
  const now = Date.now()
  const range = { from: now - 40 * 86_400_000, to: now + 86_400_000, by: 'month' } as const
  const accounts: Account[] = []
  for (const [policy] of limiters) {
    await topUpNext(policy, file)
    const balance = await settledBalance(policy)
    const usage = await quotas.usage(KEY, { ...range, policy, scope: SCOPE })
    accounts.push({ policy, balance, usage: usage.reduce((sum, { used, stranded }) => sum + used + stranded, 0) })
  }
  return accounts
}

export async function close(): Promise<number> {
  const from = systemClock.now()
  await quotas.close()
  await ledger.close()
  return systemClock.now() - from
}

/** Repeats each top-up under the same token until it is acknowledged, in whatever process. */
async function topUpNext(policy: string, file: number): Promise<void> {
  const line = `topped-up ${policy}`
  const number = readFileSync(site.log, 'utf8')
    .split('\n')
    .filter((one) => one === line).length
  await quotas.topUp(KEY, TOP_UP, { token: `token-${number}`, policy, scope: SCOPE })
  writeSync(file, `${line}\n`)
}

async function settledBalance(policy: string): Promise<QuotaBalance> {
  for (;;) {
    const balance = await quotas.balance(KEY, { policy, scope: SCOPE })
    if (balance.onLease === 0) return balance
    await pause(100)
  }
}

async function repeat(run: () => Promise<void>): Promise<void> {
  for (;;) {
    await run().catch(() => {})
    await pause(1)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.after(ms, resolve, { keepAlive: true }))
}

function ledgerOf({ folder, postgresUrl }: SpendingSite): Promise<SqlLedger> | SqlLedger {
  if (folder !== undefined) return embeddedLedger({ folder })
  const pool = new Pool({ connectionString: postgresUrl, connectionTimeoutMillis: 1_000 })
  pool.on('error', () => {})
  return postgresLedger(pool)
}
