import { expect, test } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import { overAdmitted } from '../../floods/late/late-clients.ts'
import { everyAlgorithm, KIB } from '../../floods/scene.ts'

const seed = baseSeed()

// regression: a new key has the smallest used fraction. If two clients had a full set in common, each request of one
// evicted the count of the other, and both passed without a limit: 280 of 280 requests, where the limit was 28
test.concurrent.each([...everyAlgorithm, 'any'])(
  `%s: clients of a policy that is added when the memory is full are limited (seed ${seed})`,
  async (algorithm) => {
    // larger budgets run in late-policy.long.ts
    expect(await overAdmitted(512 * KIB, algorithm, seed, [2, 5, 13])).toEqual([])
  },
)
