import { expect, test } from '@jest/globals'
import { createLimiter, limitOverrides } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

// a request that is not counted had the whole limit left, also if the policy admits fewer units at once
test('no more than the burst of a policy is left to an exempt key', () => {
  const overrides = limitOverrides({ limits: {}, others: 'exempt' })
  const policy = { limit: 18, burst: 11, window: '1m', algorithm: 'token-bucket', overrides } as const
  const limiter = createLimiter({ ...policy, clock: new FakeClock() })
  expect(limiter.take('a').binding.remaining).toBe(11)
  limiter.close()
})
