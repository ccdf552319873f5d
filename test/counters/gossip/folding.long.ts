import { expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { restarted } from './restarts.ts'

const RESTARTS = Number(process.env.SLUICE_RESTARTS ?? 10_000)

test(`${RESTARTS} restarts leave no entries behind, and nothing is lost`, async () => {
  const { counted, value, entries } = await restarted({ replicas: 5, restarts: RESTARTS }, seededRandom(baseSeed()))
  process.stdout.write(`${RESTARTS} restarts of 5 replicas: ${value} of ${counted} counted, ${entries} entries\n`)
  expect(value).toBe(counted)
  expect(entries).toBeLessThanOrEqual(5 + 10)
}, 3_600_000)
