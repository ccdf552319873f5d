import { describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { adaptive, type LimitAlgorithmName } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

const ALGORITHMS: readonly LimitAlgorithmName[] = ['throughput', 'gradient', 'vegas', 'aimd']

describe.each(ALGORITHMS)('the limit of the algorithm %s', (algorithm) => {
  const bounds = { min: 2, max: 50, initial: 20 }
  const limit = adaptive(algorithm === 'aimd' ? { ...bounds, algorithm, timeout: '1s' } : { ...bounds, algorithm })

  // regression: quotients of durations of 0 were NaN, and a limit of NaN admits everything
  test('is a number after work that took no time', () => {
    const clock = new FakeClock()
    const cap = createInflightLimiter({ limit, clock })
    for (let round = 0; round < 500; round++) {
      const permits: Permit[] = []
      for (let permit = cap.acquire(); permit && permits.length <= 50; permit = cap.acquire()) permits.push(permit)
      for (const permit of permits) permit.release()
      clock.advance(1)
      expect([permits.length <= 50, Number.isInteger(cap.limit)]).toEqual([true, true])
    }
  })

  // regression: a window that had begun later than now collected samples until the clock had caught up
  test('changes again after the clock was set back', () => {
    const clock = new FakeClock()
    let aheadMs = 86_400_000
    const cap = createInflightLimiter({ limit, clock: { now: () => clock.now() + aheadMs } as never })
    const work = (rounds: number): void => {
      for (let round = 0; round < rounds; round++) {
        const permits: Permit[] = []
        for (let permit = cap.acquire(); permit; permit = cap.acquire()) permits.push(permit)
        clock.advance(10)
        for (const permit of permits) permit.release()
      }
    }
    work(3)
    aheadMs = 0
    work(200)
    expect(cap.limit).toBeGreaterThan(20)
  })
})
