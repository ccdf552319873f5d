import { expect, test } from '@jest/globals'
import { learnedReserve } from '@sluice/quotas/budgets'

test('a cost above 2^53 - 1 settles as the largest cost instead of failing', () => {
  const { cost, stats } = learnedReserve<object, object>({ initial: 5, settle: () => Number.POSITIVE_INFINITY })
  const req = {}
  cost.reserve(req)
  expect(cost.settle(req, {}, { completed: true })).toBe(Number.POSITIVE_INFINITY)
  expect(stats().get('')).toMatchObject({ requests: 1, underReserved: 1 })
})
