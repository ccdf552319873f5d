import { describe, expect, test } from '@jest/globals'
import { numberOfRuns } from '@sluice/testkit'
import { childResult } from './child.ts'
import { KIB, MIB } from './scene.ts'

const pairs = [
  ['gcra', 'fixed-window'],
  ['fixed-window', 'gcra'],
  ['sliding-window', 'sliding-log'],
  ['sliding-log', 'sliding-window'],
] as const

/** `npm test` takes the first. */
const budgets = [256 * KIB, 1 * MIB]

// in a child process: two policies that share a budget once caused each other to hang
describe.each(budgets.slice(0, numberOfRuns(budgets.length)))('under %d bytes', (maxBytes) => {
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
