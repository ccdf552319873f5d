import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCounters, MemoryLedger, uniqueCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import type { Counters } from '@sluice/fleet/backend'
import { createGossip, type GossipPeer, gossipCounters } from '@sluice/gossip'
import { createLimiter } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createQuotas, quota, waterfall } from '@sluice/quotas'
import { runBudget } from '@sluice/quotas/budgets'
import { FolderLock } from '../../packages/counters/src/postgres/folder-lock.ts'
import type { RuntimeCode } from './runtime-codes.ts'

/** Records the error of a rejected call for the test. */
async function rejected(
  run: (counters: Counters) => Promise<unknown>,
  counters: Counters = createCounters(),
): Promise<[]> {
  await run(counters).catch((error: Error & { code: string }) => {
    process.emitWarning(error.message, { code: error.code })
  })
  await counters.close()
  return []
}

const away = { query: () => Promise.reject(Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' })) }
const withoutTables = { query: () => Promise.reject(Object.assign(new Error('no such table'), { code: '42P01' })) }

/** Error codes of counters, with a function that causes each. */
export const counterCodes: readonly RuntimeCode[] = [
  ['SLUICE_BAD_COUNTER_ID', () => rejected((counters) => counters.increment(''))],
  ['SLUICE_BAD_DELTA', () => rejected((counters) => counters.increment('page', 1.5))],
  ['SLUICE_BAD_TOKEN', () => rejected((counters) => counters.increment('page', 1, { token: '' }))],
  ['SLUICE_TOKEN_REUSED', () => rejected(reusesToken)],
  ['SLUICE_COUNTER_RANGE', () => rejected(leavesRange)],
  ['SLUICE_COUNTERS_FULL', () => rejected(fills, createCounters({ maxWaiting: 1, flushMs: '1h' }))],
  ['SLUICE_COUNTERS_CLOSED', () => rejected(countsAfterEnd)],
  ['SLUICE_COUNTERS_UNAVAILABLE', () => rejected(counts, createCounters({ ledger: postgresLedger(away) }))],
  ['SLUICE_COUNTERS_NOT_REPLICATED', isHeldByNobody],
  ['SLUICE_COUNTER_TABLES', () => rejected(counts, createCounters({ ledger: postgresLedger(withoutTables) }))],
  ['SLUICE_GOSSIP_FORGED', () => gossips(async () => Buffer.from('forged'))],
  ['SLUICE_GOSSIP_UNAVAILABLE', () => gossips(() => new Promise(() => {}))],
  ['SLUICE_SKETCH_MISMATCH', () => rejected(countsOtherwise)],
  ['SLUICE_NO_RESERVATION', () => rejected(postsNothing)],
  ['SLUICE_UNKNOWN_TAKE', () => rejected(refundsNothing)],
  ['SLUICE_BUDGET_EXHAUSTED', () => rejected(callsTooOften)],
  ['SLUICE_FOLDER_IN_USE', () => rejected(opensTwice, createCounters({ ledger: new MemoryLedger(systemClock) }))],
]

async function isHeldByNobody(): Promise<[]> {
  const node = createGossip({ peers: [] })
  const counters = gossipCounters(node, { waitMs: 1 })
  await rejected(() => counters.increment('page', 1, { minReplicas: 2 }), counters)
  await node.close()
  return []
}

/** Records the error of a failed exchange for the test. */
async function gossips(exchange: GossipPeer['exchange']): Promise<[]> {
  const event = (_name: string, { reason }: Readonly<Record<string, unknown>>): void => {
    const [, code] = /SluiceError: (SLUICE_\w+): /.exec(String(reason)) ?? []
    process.emitWarning(String(reason), { code })
  }
  const secret = 'a secret of the whole fleet'
  const node = createGossip({ peers: [{ name: 'other', exchange }], secret, waitMs: 10, observers: [{ event }] })
  await node.tick()
  await node.close()
  return []
}

function counts(counters: Counters): Promise<unknown> {
  return counters.increment('page')
}

async function reusesToken(counters: Counters): Promise<void> {
  await counters.increment('page', 1, { token: 'order-17' })
  await counters.increment('page', 2, { token: 'order-17' })
}

async function leavesRange(counters: Counters): Promise<void> {
  await counters.increment('page', Number.MAX_SAFE_INTEGER)
  await counters.increment('page')
}

async function postsNothing(): Promise<void> {
  const quotas = createQuotas(new MemoryLedger(systemClock))
  const limiter = createLimiter({ policies: [quota({ limit: 10, per: 'day', backend: quotas })] })
  await quotas.post('acme', 'unknown').finally(() => {
    limiter.close()
    return quotas.close()
  })
}

async function refundsNothing(): Promise<void> {
  const quotas = createQuotas(new MemoryLedger(systemClock))
  const plan = waterfall([quota({ limit: 10, per: 'day', backend: quotas })])
  await plan.refund('acme', 1, 'unknown').finally(() => quotas.close())
}

async function callsTooOften(): Promise<void> {
  const budget = runBudget({ calls: 1 })
  const tool = budget.guard(() => 'found', { name: 'search' })
  await tool()
  await tool().finally(() => budget.close())
}

async function fills(counters: Counters): Promise<void> {
  await counters.increment('page')
  await counters.increment('other')
}

async function countsOtherwise(): Promise<void> {
  const ledger = new MemoryLedger(systemClock)
  await uniqueCounters({ ledger }).add('page', 'anna', { durable: true })
  await uniqueCounters({ ledger, precision: 12 }).add('page', 'ben')
}

async function countsAfterEnd(counters: Counters): Promise<void> {
  await counters.close()
  await counters.increment('page')
}

async function opensTwice(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-locked-'))
  const lock = await FolderLock.take(folder, systemClock)
  try {
    await FolderLock.take(folder, systemClock)
  } finally {
    await lock.release()
    rmSync(folder, { recursive: true, force: true })
  }
}
