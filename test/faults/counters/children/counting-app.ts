// A process with counters: simulated increments of each kind and a record of every result.

import { createCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters } from '@sluice/fleet/backend'
import { createRedis } from '@sluice/redis'
import { Pool, type PoolConfig } from 'pg'
import { OpenLoop } from '../../children/open-loop.ts'
import { type Call, type CallKind, CallRecord } from './call-record.ts'

export interface CountingSite {
  /** Name of the counters. */
  readonly name: string
  readonly postgresUrl: string
  /** Address of Redis. Without it, the process counts in memory. */
  readonly redisUrl: string | undefined
  readonly waitMs: number
  readonly flushMs: number
  /** Ids of `plain` calls, which are known before the increments start. */
  readonly ids: readonly string[]
  readonly pool?: PoolConfig
  readonly partitions?: number
}

export interface CountingReport {
  readonly calls: readonly Call[]
  /** Acknowledged units by id. */
  readonly answered: ReadonlyMap<string, number>
  /** Units of failed calls that may still have been counted, by id. */
  readonly doubtful: ReadonlyMap<string, number>
  /** Ids of the calls with a token. Each is counted once, in the first attempt or a retry. */
  readonly tokens: readonly string[]
  /** Number of calls without an answer long after the last one was made. */
  readonly pending: number
  readonly unhandled: readonly string[]
  readonly longestStallMs: number
}

/** Kinds of calls by their index modulo a constant. All other calls are plain. */
const EACH = 20
const SPECIAL: ReadonlyMap<number, CallKind> = new Map([
  [3, 'new'],
  [8, 'durable'],
  [13, 'token'],
  [18, 'durable'],
])

const UNHANDLED: string[] = []
process.on('unhandledRejection', (reason) => UNHANDLED.push(String(reason)))
process.on('uncaughtException', (error) => UNHANDLED.push(String(error.stack)))

let pool: Pool
let client: ReturnType<typeof createRedis> | undefined
let counters: Counters
let ids: readonly string[] = []
let waitMs = 0
let crowd: OpenLoop | undefined
let record: CallRecord
/** Whether each token was acknowledged. The token is also the id that it counts, which was never counted before. */
let tokens = new Map<string, boolean>()

/** Connects and loads the ids that must be known. */
export async function open(site: CountingSite): Promise<void> {
  await close()
  ;[ids, waitMs] = [site.ids, site.waitMs]
  pool = new Pool({ connectionString: site.postgresUrl, ...site.pool })
  pool.on('error', () => {})
  const { name, flushMs, redisUrl, partitions } = site
  const options = { name, flushMs, waitMs, ledger: postgresLedger(pool) }
  client = redisUrl === undefined ? undefined : createRedis(redisUrl)
  counters = client === undefined ? createCounters(options) : redisCounters(client, { ...options, partitions })
  UNHANDLED.length = 0
  await until(() =>
    counters.incrementMany(ids.map((id) => [id, 0])).then(() => counters.increment('durable', 0, { durable: true })),
  )
}

/** Starts increments of one unit each. `nonce` makes new ids and tokens unique. */
export function start({ perSecond, nonce }: { readonly perSecond: number; readonly nonce: string }): void {
  record = new CallRecord()
  tokens = new Map()
  crowd = new OpenLoop(perSecond, (index) => count(SPECIAL.get(index % EACH) ?? 'plain', `${nonce}-${index}`, index))
}

function count(kind: CallKind, nonce: string, index: number): void {
  if (kind === 'token') {
    countToken(`token-${nonce}`)
    return
  }
  const id = { plain: ids[index % ids.length] as string, new: `new-${nonce}`, durable: kind }[kind]
  void record.make(kind, id, () => counters.increment(id, 1, { durable: kind === 'durable' }))
}

/** Number of units acknowledged so far. */
export function answered(): number {
  return [...record.answered.values()].reduce((sum, units) => sum + units, 0)
}

/** Resolves with the epoch milliseconds at which the ledger has everything counted so far. */
export async function flushed(): Promise<number> {
  await until(() => counters.flush())
  return performance.timeOrigin + performance.now()
}

/**
 * Stops the increments. Resolves when all are answered. Failed calls with a token are retried until they are counted.
 */
export async function stop(): Promise<CountingReport> {
  crowd?.stop()
  const patienceEndsAt = performance.now() + 4 * waitMs + 2_000
  while (record.pending > 0 && performance.now() < patienceEndsAt) await moment()
  const { pending, longestStallMs, doubtful } = record
  const calls = record.end()
  for (const [token, isCounted] of tokens) if (!isCounted) await until(() => counters.increment(token, 1, { token }))
  await flushed()
  const sums = { answered: record.answered, doubtful, tokens: [...tokens.keys()] }
  return { ...sums, calls, pending, longestStallMs, unhandled: [...UNHANDLED] }
}

/**
 * Sends one batch of ids with a unit each. Returns whether it was counted, and how long the call took in milliseconds.
 */
export async function countBatch(batch: {
  readonly ids: readonly string[]
  readonly token: string
}): Promise<{ readonly counted: boolean; readonly ms: number; readonly code?: string }> {
  const from = performance.now()
  try {
    const deltas = batch.ids.map((id) => [id, 1] as const)
    const { counted } = await counters.incrementMany(deltas, { token: batch.token })
    return { counted, ms: performance.now() - from }
  } catch (error) {
    return { counted: false, ms: performance.now() - from, code: String((error as { readonly code?: unknown }).code) }
  }
}

/** Closes counters and clients. */
export async function close(): Promise<void> {
  crowd?.stop()
  await counters?.close().catch(() => {})
  client?.disconnect()
  void pool?.end().catch(() => {})
}

function countToken(token: string): void {
  tokens.set(token, false)
  void record
    .make('token', token, () => counters.increment(token, 1, { token }))
    .then((isAnswered) => tokens.set(token, isAnswered))
}

async function until(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const isDone = await call().then(
      () => true,
      () => false,
    )
    if (isDone) return
    await moment()
  }
}

function moment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}
