// A process that counts: a crowd of increments of each kind, and a record of what became of every one.

import { createCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters } from '@sluice/limiter-core'
import { createRedis } from '@sluice/redis'
import { Pool, type PoolConfig } from 'pg'
import { OpenLoop } from '../../children/open-loop.ts'
import { type Call, type CallKind, CallRecord } from './call-record.ts'

export interface CountingSite {
  /** Of the counters. */
  readonly name: string
  readonly postgresUrl: string
  /** Without it the process counts by itself. */
  readonly redisUrl: string | undefined
  readonly waitMs: number
  readonly flushMs: number
  /** Of `plain` calls: known before the crowd comes. */
  readonly ids: readonly string[]
  readonly pool?: PoolConfig
  readonly partitions?: number
}

export interface CountingReport {
  readonly calls: readonly Call[]
  /** By id, units that were answered. */
  readonly answered: ReadonlyMap<string, number>
  /** By id, units of calls that may have counted all the same. */
  readonly doubtful: ReadonlyMap<string, number>
  /** Ids of the calls that had a token: each is counted once, by its first unit or when it is sent again. */
  readonly tokens: readonly string[]
  /** Calls without an answer long after the last one was made. */
  readonly pending: number
  readonly unhandled: readonly string[]
  readonly longestStallMs: number
}

/** Kinds of calls by their index within so many; the others are plain. */
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
/** Whether each was answered. A token is the id that it counts, too: one that nobody ever counted. */
let tokens = new Map<string, boolean>()

/** Connects, and reads the ids that are to be known. */
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

/** A crowd begins to count, one unit a call. `nonce` tells its new ids and tokens from those of others. */
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

/** Units that were answered so far. */
export function answered(): number {
  return [...record.answered.values()].reduce((sum, units) => sum + units, 0)
}

/** Resolves, with the epoch ms, when the ledger has all that was counted so far. */
export async function flushed(): Promise<number> {
  await until(() => counters.flush())
  return performance.timeOrigin + performance.now()
}

/** The crowd goes. Answers when all are answered; what has a token and failed is sent again, until it is counted. */
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

/** One batch of ids, each a unit. Answers whether it counted now, and how many ms the call took. */
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

/** Lets go of counters and clients. */
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
