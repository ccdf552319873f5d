import { openSync, writeSync } from 'node:fs'
import { createCounters } from '@sluice/counters'
import { embeddedLedger, postgresLedger, type SqlLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters } from '@sluice/fleet/backend'
import { systemClock } from '@sluice/limiter-core/backend'
import { createRedis } from '@sluice/redis'
import { Pool } from 'pg'
import { type LaneLog, LaneLogs } from '../lane-logs.ts'

export interface CountingOptions {
  readonly name: string
  readonly postgresUrl: string
  /** If undefined, the process counts in its own memory. */
  readonly redisUrl: string | undefined
  /** Folder of an embedded ledger, used instead of PostgreSQL. */
  readonly folder: string | undefined
  /** Log file of sent and acknowledged units, which survives the process. */
  readonly log: string
  /** Number of lanes of each kind. */
  readonly lanes: number
}

/** How units of a lane are counted. */
export type LaneKind = 'plain' | 'durable' | 'token'

const FLUSH_MS = 100

let counters: Counters | undefined

/**
 * Counts until the process is killed: each lane sends one unit after the other, and repeats units with a token until
 * they are acknowledged.
 */
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

/** Resolves when all acknowledged units are in the ledger. */
export async function flush(): Promise<void> {
  await counters?.flush()
}

/** Reads the total of each lane from the ledger in a folder. */
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
  /** Units that an earlier process counted. */
  readonly from: LaneLog | undefined
  readonly note: (line: string) => void
}

async function countOn(counted: Counters, { lane, kind, from, note }: Lane): Promise<void> {
  // a unit with a token that was not acknowledged is sent again with the same token
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
    // counts in memory would fill the log and block all other work
    await new Promise<void>((resolve) => systemClock.after(1, resolve))
  }
}

function clientOf(url: string): ReturnType<typeof createRedis> {
  const client = createRedis(url)
  client.on('error', () => {})
  return client
}
