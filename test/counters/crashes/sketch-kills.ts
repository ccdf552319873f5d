import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { digestCounters, uniqueCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import { HyperLogLog } from '@sluice/sketches'
import type { SeededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { registers } from '../sketches/sketch-bench.ts'
import { LaneLogs } from './lane-logs.ts'

type Measuring = ChildNode<typeof import('./children/measuring.ts')>

const LONGEST_DELAY_MS = 200
const seed = 'a seed of more than 16 bytes'

/**
 * Two processes at a time add durable values and keys, and are killed one after the other. Checks that everything
 * acknowledged is in the ledger.
 */
export async function measureThrough(kills: number, random: SeededRandom): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-measuring-'))
  const log = join(folder, 'log')
  const postgres = await startPostgres()
  const logs = new LaneLogs(log)
  const children: Measuring[] = []
  try {
    await postgresLedger(postgres.pool()).migrate()
    const start = async (name: number): Promise<void> => {
      const child: Measuring = startNode('counters/crashes/children/measuring.ts')
      children.push(child)
      await child.call('measure', { postgresUrl: postgres.url, seed, start: String(name), log })
    }
    await start(0)
    for (let kill = 1; kill <= kills; kill++) {
      await start(kill)
      await adds(logs, kill)
      await new Promise<void>((resolve) => systemClock.after(random.whole(LONGEST_DELAY_MS), resolve))
      await children.shift()?.stop()
    }
    for (const child of children.splice(0)) await child.stop()
    await check(logs, postgres)
  } finally {
    for (const child of children) await child.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Resolves once each lane of the given start has an acknowledgement. */
async function adds(logs: LaneLogs, start: number): Promise<void> {
  const isAnswered = async (): Promise<boolean> =>
    [...logs.read()].filter(([lane, { answered }]) => lane.split('-')[1] === String(start) && answered > 0).length === 6
  await eventually(isAnswered, { what: `an answer of each lane of start ${start}`, timeoutMs: 30_000 })
}

async function check(logs: LaneLogs, postgres: PostgresServer): Promise<void> {
  const options = { ledger: postgresLedger(postgres.pool()) }
  const [digests, uniques] = [digestCounters(options), uniqueCounters({ ...options, seed })]
  // two days, since the test may run across midnight UTC
  const { count } = await digests.daySketch('ms', { days: 2 })
  const seen = await uniques.daySketch('visitors', { days: 2 })
  const sums = { sent: 0, answered: 0 }
  const [least, most] = [new HyperLogLog({ seed }), new HyperLogLog({ seed })]
  for (const [lane, { sent, answered }] of logs.read()) {
    const [kind, start, index] = lane.split('-')
    if (kind === 'digest') {
      sums.sent += sent
      sums.answered += answered
    }
    for (let unit = 0; kind === 'unique' && unit < sent; unit++) {
      most.add(`${start}-${index}-${unit}`)
      if (unit < answered) least.add(`${start}-${index}-${unit}`)
    }
  }
  process.stdout.write(`digests: ${sums.answered} answered, ${count} in the ledger, ${sums.sent} sent\n`)
  expect(count).toBeGreaterThanOrEqual(sums.answered)
  expect(count).toBeLessThanOrEqual(sums.sent)
  expect(registers(joined(least, seen))).toBe(registers(seen))
  expect(registers(joined(seen, most))).toBe(registers(most))
  await Promise.all([digests.close(), uniques.close()])
}

function joined(one: HyperLogLog, other: HyperLogLog): HyperLogLog {
  const both = new HyperLogLog({ seed })
  both.merge(one)
  both.merge(other)
  return both
}
