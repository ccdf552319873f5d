import { describe, expect, test } from '@jest/globals'
import { childResult } from './child.ts'
import { KIB, MIB } from './scene.ts'

const pairs = [
  ['gcra', 'fixed-window'],
  ['fixed-window', 'gcra'],
  ['sliding-window', 'sliding-log'],
  ['sliding-log', 'sliding-window'],
] as const

// in a child process: two policies that share a budget once caused each other to hang
describe.each([256 * KIB, 1 * MIB])('under %d bytes', (maxBytes) => {
  describe.each(['flood first', 'flood last'])('with the %s', (order) => {
    test.concurrent.each(pairs)('during a flood on %s, the keys of %s keep their share', async (flooded, quiet) => {
      const args = [String(maxBytes), flooded, quiet, order]
      const { lost } = await childResult<{ lost: number }>('floods/children/shared-budget.ts', {
        args,
        timeoutMs: 60_000,
      })
      expect(lost).toBe(0)
    })
  })
})
