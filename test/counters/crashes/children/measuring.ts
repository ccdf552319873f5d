import { openSync, writeSync } from 'node:fs'
import { digestCounters, uniqueCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import { Pool } from 'pg'

export interface MeasuringOptions {
  readonly postgresUrl: string
  readonly seed: string
  /** Number of the start of this process, which makes its values and keys unique. */
  readonly start: string
  /** Log file of sent and acknowledged units, which survives the process. */
  readonly log: string
}

const LANES = 3

/**
 * Adds values and keys until the process is killed: each lane sends one after the other, and merges rows much of the
 * time.
 */
export async function measure({ postgresUrl, seed, start, log }: MeasuringOptions): Promise<void> {
  const pool = new Pool({ connectionString: postgresUrl, connectionTimeoutMillis: 1_000 })
  pool.on('error', () => {})
  const options = { ledger: postgresLedger(pool), flushMs: '100ms', random: () => Math.random() / 16 } as const
  const [digests, uniques] = [digestCounters(options), uniqueCounters({ ...options, seed })]
  const file = openSync(log, 'a')
  const note = (line: string): number => writeSync(file, `${line}\n`)
  for (let lane = 0; lane < LANES; lane++) {
    const of = `${start}-${lane}`
    void addOn(note, `digest-${of}`, (unit) => digests.add('ms', unit, { durable: true }))
    void addOn(note, `unique-${of}`, (unit) => uniques.add('visitors', `${of}-${unit}`, { durable: true }))
  }
}

async function addOn(
  note: (line: string) => void,
  lane: string,
  add: (unit: number) => Promise<unknown>,
): Promise<void> {
  for (let unit = 0; ; unit++) {
    note(`sent ${lane} ${unit}`)
    await add(unit)
    note(`answered ${lane} ${unit}`)
    await new Promise<void>((resolve) => systemClock.after(1, resolve))
  }
}
