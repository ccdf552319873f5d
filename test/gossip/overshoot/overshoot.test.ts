import { expect, test } from '@jest/globals'
import { seededRandom } from '@sluice/testkit'
import { gossipAdmitted } from './overshoot.ts'

test.each([
  [5, 10, 1.1],
  [5, 100, 1.4],
])(
  '%d replicas at %d times their limit admit at most %d limits in any window, and 0.95 to 1.3 later',
  async (nodes, demand, atMost) => {
    const { most, steady } = await gossipAdmitted({ nodes, demand, windows: 3, random: seededRandom(1) })
    expect(most).toBeLessThanOrEqual(atMost)
    expect(steady).toBeGreaterThanOrEqual(0.95)
    expect(steady).toBeLessThanOrEqual(1.3)
  },
  120_000,
)
