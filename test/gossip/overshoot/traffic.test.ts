import { expect, test } from '@jest/globals'
import { seededRandom } from '@sluice/testkit'
import { trafficOf } from './traffic.ts'

test('messages for 1,000 hot keys stay within 64 KiB, and all replicas receive all keys', async () => {
  const { bytesASecond, largestMessage, shared } = await trafficOf(3, 1_000, seededRandom(1))
  expect(largestMessage).toBeLessThanOrEqual(65_536)
  expect(shared).toBe(2 * 1_000)
  expect(bytesASecond).toBeLessThan(2 ** 20)
})
