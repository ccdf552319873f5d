import '@electric-sql/pglite'
import { createCounters } from '@sluice/counters'
import { embeddedLedger, type SqlLedger } from '@sluice/counters/postgres'
import type { Counters } from '@sluice/fleet/backend'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import type { User } from '../../services/processes/unprivileged.ts'

// PGlite is an ES module that jest cannot load, so the code that uses it runs in a separate process

const RULES = ['allow', 'deny'] as const
const WAIT_MS = 500

type Rule = (typeof RULES)[number]
type Limiter = ReturnType<typeof limiterOf>

let ledger: SqlLedger
let counters: Counters
let limiters: Readonly<Record<Rule, Limiter>>
const errors: string[] = []
const reports: string[] = []

process.on('unhandledRejection', (error) => errors.push(String(error)))
process.on('uncaughtException', (error) => errors.push(String(error)))
process.on('warning', (warning) => reports.push(`${(warning as { code?: string }).code}: ${warning.message}`))

/** Gives up the rights of root, which may write in every folder. */
export function becomeUser({ uid, gid }: User): void {
  if (uid === undefined || gid === undefined) return
  process.setgroups?.([])
  process.setgid?.(gid)
  process.setuid?.(uid)
}

/** Opens a folder, and returns the message of the error if it was rejected. */
export async function open(folder: string): Promise<string | undefined> {
  try {
    ledger = await embeddedLedger({ folder })
  } catch (error) {
    return String((error as Error).message)
  }
  counters = createCounters({ name: 'units', ledger, flushMs: 50, waitMs: WAIT_MS })
  limiters = { allow: limiterOf('allow'), deny: limiterOf('deny') }
  return undefined
}

/** Counts a unit, and returns the value or the code of the error. `isDurable`: waits for the ledger. */
export async function increment(id: string, isDurable: boolean): Promise<number | string> {
  try {
    return (await counters.increment(id, 1, { durable: isDurable })).value
  } catch (error) {
    return String((error as { code?: unknown }).code)
  }
}

/** Spends a unit of a quota that calls the database each time. */
export async function take(rule: Rule, key: string): Promise<{ allowed: boolean; source: string }> {
  const { allowed, source } = await limiters[rule].take(key)
  return { allowed, source }
}

/** Returns the total of an id in the ledger. */
export async function total(id: string): Promise<number> {
  const readings = await counters.readMany(id)
  return readings[0]?.value ?? 0
}

/** Returns errors without a handler, and the warnings of this process. */
export function outcome(): { readonly errors: readonly string[]; readonly reports: readonly string[] } {
  return { errors, reports }
}

export async function close(): Promise<void> {
  await counters.close()
  for (const rule of RULES) limiters[rule].close()
  await ledger.close()
}

function limiterOf(rule: Rule) {
  const backend = createQuotas(ledger, { waitMs: WAIT_MS })
  const policies = [quota({ name: rule, limit: 50, per: 'day', backend })]
  return createLimiter({ policies, scope: rule, deadlineMs: WAIT_MS, onBackendError: rule })
}
