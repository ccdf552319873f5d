import { appendFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { type SeededRandom, SyncedFleet, seededRandom } from '@sluice/testkit'
import { reportedKeys } from './reported-keys.ts'

const TAKES_A_MS = 50
const SECONDS = 10
const MAX_KEYS_A_SECOND = 20_000
const ONE_RUN_MS = 600_000
const path = process.env.SLUICE_CURVES

interface ReportedRow {
  readonly keys: number
  readonly limit: number
  /** Keys that one process reports per second. */
  readonly reported: number
}

/** Simulates what one of 20 processes reports for 50,000 takes a second, each of a random key. */
async function reportedRow(keys: number, limit: number, random: SeededRandom): Promise<ReportedRow> {
  const policy = { name: 'api', limit, window: '1m', algorithm: 'sliding-window' } as const
  const fleet = new SyncedFleet({ nodes: 1, policy, network: { delayMs: 1 }, random, sync: { nodes: 20 } })
  const [{ limiter }] = fleet.nodes
  for (let ms = 0; ms < SECONDS * 1_000; ms++) {
    for (let take = 0; take < TAKES_A_MS; take++) limiter.take(`key ${random.whole(keys)}`)
    await fleet.pass(1)
  }
  const reported = reportedKeys(fleet.nodes[0])
  await fleet.close()
  return { keys, limit, reported: Math.round(reported / SECONDS) }
}

describe.each([6_000, 100])('50,000 takes a second with a limit of %d', (limit) => {
  test.each([1e3, 1e4, 1e5, 1e6, 1e7])(
    'of %d keys are reported in a bounded number of keys',
    async (keys) => {
      const row = await reportedRow(keys, limit, seededRandom(keys))
      const line = `${JSON.stringify({ kind: 'keys', ...row })}\n`
      process.stdout.write(line)
      if (path) appendFileSync(path, line)
      // ten seconds may have eleven ticks, and urgent reports are sent between ticks within the same bound
      expect(row.reported).toBeLessThanOrEqual(1.2 * MAX_KEYS_A_SECOND)
    },
    ONE_RUN_MS,
  )
})
