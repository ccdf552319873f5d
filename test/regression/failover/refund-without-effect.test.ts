import { afterEach, describe, expect, test } from '@jest/globals'
import type { AlgorithmName, Limiter } from '@sluice/limiter-core'
import {
  closeBenches,
  closeBreaker,
  type FailoverBench,
  failoverBench,
  openBreaker,
  serverError,
  settled,
} from '../../failover/flaky-backend.ts'

afterEach(closeBenches)

/** Maximum number of units of the key that were reported to the backend. */
function mostTold({ flaky }: FailoverBench): number {
  const known = flaky.heard.flatMap(({ charges }) => charges.map((charge) => charge.known?.used ?? 0))
  return Math.max(0, ...known)
}

async function used(limiter: Limiter): Promise<number> {
  await settled()
  return 20 - (await limiter.peek('key', 0)).binding.remaining
}

describe.each<AlgorithmName>(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'])(
  'with %s',
  (algorithm) => {
    const policy = { limit: 20, window: '365d', algorithm } as const

    test.each([0, 12])(
      'refunds that a backend did not receive do not increase the reported usage (after %d failures)',
      async (failures) => {
        const one = failoverBench()
        const limiter = one.limiter('local', policy)
        const first = await limiter.take('key', 4)
        // adopted usage has no times of its units
        one.clock.advance(5)
        await limiter.take('key', 6)
        one.clock.advance(1_000)
        if (failures > 0) await openBreaker(one, limiter)
        else one.flaky.condition = serverError('CONNECTION')
        for (let refund = 0; refund < 3; refund++) await limiter.charge('key', -1, first)
        one.flaky.condition = 'well'
        one.flaky.restart()
        if (failures > 0) await closeBreaker(one, limiter)
        one.flaky.heard.length = 0
        await limiter.take('key', 0)
        expect(mostTold(one)).toBeLessThanOrEqual(10)
        if (failures === 0) expect(mostTold(one)).toBeGreaterThan(0)
        expect(await used(limiter)).toBeLessThanOrEqual(10)
      },
    )
  },
)
