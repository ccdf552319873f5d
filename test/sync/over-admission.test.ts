import { describe, expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { admittedOf } from './admitted.ts'

const WINDOW_MS = 60_000
const LIMIT = 6_000

describe('a fleet of 20 at a multiple of its limit', () => {
  test.each([
    [1.2, 1.03],
    [2, 1.06],
    [10, 1.25],
    [100, 1.5],
  ])(
    '%d times: a cold key admits at most %d limits in its first window, and 0.95 to 1.05 a window afterwards',
    async (demand, most) => {
      await eachSeed(1, async (random) => {
        const { first, steady } = await admittedOf({
          nodes: 20,
          limit: LIMIT,
          windowMs: WINDOW_MS,
          demand,
          windows: 4,
          random,
        })
        expect(first).toBeLessThanOrEqual(most)
        expect(steady).toBeGreaterThanOrEqual(0.95)
        expect(steady).toBeLessThanOrEqual(1.05)
      })
    },
  )
})
