import { expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { agreementOf } from './agreement.ts'

test('1,000 replicas agree within 1.2 s, though one message of ten is lost', async () => {
  const network = { loss: 0.1, delayMs: 10 }
  const { p50, p99, most } = await agreementOf({ replicas: 1_000, messages: 30, network }, seededRandom(baseSeed()))
  process.stdout.write(`1,000 replicas, 10 % loss: agreed after ${p50} ms (p50), ${p99} ms (p99), ${most} ms (most)\n`)
  expect(p99).toBeLessThanOrEqual(1_200)
}, 1_200_000)
