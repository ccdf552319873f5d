import { openSync, writeSync } from 'node:fs'
import { createCounters } from '@sluice/counters'
import { embeddedLedger, postgresLedger, type SqlLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createRedis } from '@sluice/redis'
import { Pool } from 'pg'
import { type LaneLog, LaneLogs } from '../lane-logs.ts'

export interface CountingOptions {
  readonly name: string
  readonly postgresUrl: string
  /** Without it the process counts by itself. */
  readonly redisUrl: string | undefined
  /** In the place of a PostgreSQL. */
  readonly folder: string | undefined
  /** Where it writes what it sent and what was answered, so that this survives it. */
  readonly log: string
  /** Of each kind. */
  readonly lanes: number
}

/** How units of a lane are counted. */
export type LaneKind = 'plain' | 'durable' | 'token'

const FLUSH_MS = 100

let counters: Counters | undefined

/** Counts until it is killed: each lane one unit after the other, and what has a token until it is answered. */
export async function start({ name, postgresUrl, redisUrl, folder, log, lanes }: CountingOptions): Promise<void> {
  const ledger = folder === undefined ? ledgerAt(postgresUrl) : await embeddedLedger({ folder })
  const options = { name, ledger, flushMs: `${FLUSH_MS}ms`, waitMs: '1s' } as const
  counters = redisUrl === undefined ? createCounters(options) : redisCounters(clientOf(redisUrl), options)
  const before = new LaneLogs(log).read()
  const file = openSync(log, 'a')
  for (const kind of ['plain', 'durable', 'token'] as const) {
    for (let index = 0; index < lanes; index++) {
      const lane = `${kind}-${index}`
      void countOn(counters, { lane, kind, from: before.get(lane), note: (line) => writeSync(file, `${line}\n`) })
    }
  }
}

/** Answers when all that was answered before is in the ledger. */
export async function flush(): Promise<void> {
  await counters?.flush()
}

/** What the ledger in a folder has of each lane. */
export async function totals(folder: string, name: string): Promise<ReadonlyMap<string, number>> {
  const ledger = await embeddedLedger({ folder })
  const readings = await createCounters({ name, ledger }).readMany('')
  await ledger.close()
  return new Map(readings.map(({ id, value }) => [id, value]))
}

function ledgerAt(postgresUrl: string): SqlLedger {
  const pool = new Pool({ connectionString: postgresUrl, connectionTimeoutMillis: 1_000 })
  pool.on('error', () => {})
  return postgresLedger(pool)
}

interface Lane {
  readonly lane: string
  readonly kind: LaneKind
  /** What a process before counted. */
  readonly from: LaneLog | undefined
  readonly note: (line: string) => void
}

async function countOn(counted: Counters, { lane, kind, from, note }: Lane): Promise<void> {
  // a unit with a token that was not answered is sent again, under its token
  let unit = kind === 'token' ? (from?.answered ?? 0) : (from?.sent ?? 0)
  for (;;) {
    note(`sent ${lane} ${unit}`)
    const options = kind === 'token' ? { token: `${lane}-${unit}` } : { durable: kind === 'durable' }
    try {
      await counted.increment(lane, 1, options)
      note(`answered ${lane} ${unit}`)
      unit++
    } catch {
      if (kind !== 'token') unit++
    }
    // what is counted in memory would fill the log, and let nothing else run
    await new Promise<void>((resolve) => systemClock.after(1, resolve))
  }
}

function clientOf(url: string): ReturnType<typeof createRedis> {
  const client = createRedis(url)
  client.on('error', () => {})
  return client
}
