import { expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { restarted } from './restarts.ts'

test('10,000 restarts leave no entries behind, and nothing is lost', async () => {
  const { counted, value, entries } = await restarted({ replicas: 5, restarts: 10_000 }, seededRandom(baseSeed()))
  process.stdout.write(`10,000 restarts of 5 replicas: ${value} of ${counted} counted, ${entries} entries\n`)
  expect(value).toBe(counted)
  expect(entries).toBeLessThanOrEqual(5 + 10)
}, 3_600_000)
