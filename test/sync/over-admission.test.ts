import { describe, expect, test } from '@jest/globals'
import { admittedRow } from './admitted-table.ts'

describe('a fleet of 20 at a multiple of its limit', () => {
  test.each([
    [2, 1.06],
    [100, 1.5],
  ])(
    '%d times: a cold key admits at most %d limits in any window, and 0.95 to 1.05 a window in the long run',
    async (demand, atMost) => {
      const { most, steady } = await admittedRow(20, demand)
      expect(most).toBeLessThanOrEqual(atMost)
      expect(steady).toBeGreaterThanOrEqual(0.95)
      expect(steady).toBeLessThanOrEqual(1.05)
    },
  )
})

// more cases, and larger fleets, run in over-admission.long.ts
test('a fleet of 20 at 10 times its limit admits at most 1.25 limits in any window if requests come in bursts', async () => {
  expect((await admittedRow(20, 10, 'bursts', 3)).most).toBeLessThanOrEqual(1.25)
})
