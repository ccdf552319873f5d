import { expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { agreementOf } from './agreement.ts'

test('100 replicas agree within a second, though one message of ten is lost', async () => {
  const network = { loss: 0.1, delayMs: 10 }
  const { p50, p99, most } = await agreementOf({ replicas: 100, messages: 100, network }, seededRandom(baseSeed()))
  process.stdout.write(`100 replicas, 10 % loss: agreed after ${p50} ms (p50), ${p99} ms (p99), ${most} ms (most)\n`)
  expect(p99).toBeLessThanOrEqual(1_000)
}, 120_000)
