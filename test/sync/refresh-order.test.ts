import { expect, test } from '@jest/globals'
import { SyncedFleet, seededRandom } from '@sluice/testkit'
import { reportedKeys } from './reported-keys.ts'

const KEYS = 10_000
const LIMIT = 6_000
/** Fractions of the keys by how much of their limit is used, as measured by PostHog: nearly all are idle. */
const MIX = [
  { keys: 0.95, used: 0.02 },
  { keys: 0.03, used: 0.3 },
  { keys: 0.01, used: 0.6 },
  { keys: 0.01, used: 0.85 },
]
/** Units of a key that one of 20 processes does not report. */
const FLOOR = 3
const SECONDS = 75

test('keys with little usage are refreshed more often the fuller they are: 3 in a thousand per tick', async () => {
  const policy = { name: 'api', limit: LIMIT, window: '1h', algorithm: 'fixed-window' } as const
  const random = seededRandom(1)
  const fleet = new SyncedFleet({ nodes: 2, policy, network: { delayMs: 1 }, random, sync: { nodes: 20 } })
  const [busy, quiet] = fleet.nodes
  let key = 0
  for (const { keys, used } of MIX) {
    for (const until = key + keys * KEYS; key < until; key++) {
      // a quarter of the limit between two answers
      for (let left = used * LIMIT; left > 0; left -= 1_200) {
        busy.limiter.take(`key ${key}`, Math.min(left, 1_200))
        if (left > 1_200) await fleet.pass(60)
      }
    }
  }
  await fleet.pass(10_000)
  for (key = 0; key < KEYS; key++) quiet.limiter.take(`key ${key}`, FLOOR + 1)
  await fleet.pass(10_000)
  const before = reportedKeys(quiet)
  expect(before).toBe(KEYS)
  // each key once in 25 s, so the taken units stay below the floor
  let next = 0
  for (let ms = 0; ms < SECONDS * 1_000; ms += 5) {
    for (let taken = 0; taken < KEYS / 5_000; taken++) quiet.limiter.take(`key ${next++ % KEYS}`)
    await fleet.pass(5)
  }
  const aTick = (reportedKeys(quiet) - before) / SECONDS
  process.stdout.write(`${aTick.toFixed(1)} of ${KEYS} keys ride along a tick\n`)
  expect(aTick).toBeLessThanOrEqual(0.003 * KEYS)
  expect(aTick).toBeGreaterThan(0)
  await fleet.close()
})
