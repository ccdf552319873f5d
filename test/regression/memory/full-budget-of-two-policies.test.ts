import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'

// regression: an arena that released pages took them again at once, and the requesting arena retried forever
test("a new policy gets its memory in bounded time if the budget is full of another policy's live keys", async () => {
  const args = [String(2 ** 20), 'gcra', 'fixed-window', 'flood first']
  const { lost } = await childResult<{ lost: number }>('floods/children/shared-budget.ts', { args, timeoutMs: 10_000 })
  expect(lost).toBe(0)
}, 15_000)
