import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'

// an arena asked to give pages back took them again at once, and the one that asked, asked for ever
test('a policy that comes to a budget full of another policy’s live keys gets its place in bounded time', async () => {
  const args = [String(2 ** 20), 'gcra', 'fixed-window', 'flood first']
  const { lost } = await childResult<{ lost: number }>('floods/children/shared-budget.ts', { args, timeoutMs: 10_000 })
  expect(lost).toBe(0)
}, 15_000)
