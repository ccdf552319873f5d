import { expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { restarted } from './restarts.ts'

const RESTARTS = Number(process.env.SLUICE_RESTARTS ?? 10_000)

test(`${RESTARTS} restarts leave no entries behind and lose no units`, async () => {
  const random = seededRandom(baseSeed())
  const { counted, value, entries, costs } = await restarted({ replicas: 5, restarts: RESTARTS }, random)
  process.stdout.write(`${RESTARTS} restarts of 5 replicas: ${value} of ${counted} counted, ${entries} entries\n`)
  const part = Math.ceil(RESTARTS / 10)
  for (let from = 0; from < RESTARTS; from += part) {
    const some = costs.slice(from, from + part)
    const [bytes, ms] = (['bytes', 'ms'] as const).map(
      (cost) => some.reduce((sum, one) => sum + one[cost], 0) / some.length,
    )
    process.stdout.write(`from ${from}: ${Math.round(bytes)} bytes and ${ms.toFixed(1)} ms for each\n`)
  }
  expect(value).toBe(counted)
  expect(entries).toBeLessThanOrEqual(5 + 10)
}, 3_600_000)
