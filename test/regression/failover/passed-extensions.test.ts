import { afterEach, expect, test } from '@jest/globals'
import { type Answer, type Charge, createLimiter } from '@sluice/limiter-core'
import { closeBenches, failoverBench, settled } from '../../failover/flaky-backend.ts'

afterEach(closeBenches)

test('an extension is passed to the backend without the units that were held, and given back if it was counted', async () => {
  const { clock, flaky } = failoverBench()
  const passed: number[] = []
  Object.assign(flaky, { passed: (charges: readonly Charge[]) => passed.push(...charges.map(({ cost }) => cost)) })
  const policy = { limit: 20, window: '1m', algorithm: 'fixed-window', maxHoldMs: '1m' } as const
  const limiter = createLimiter({ policies: [policy], backend: flaky, clock })
  const hold = await limiter.hold('key', { reserve: 10 })
  let answer = (_answer: Answer): void => {}
  flaky.condition = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  const extended = hold.extend(5)
  clock.advance(50)
  expect(await extended).toBe(true)
  expect(passed).toEqual([5])
  const [{ compiled }] = flaky.opened
  const verdict = {
    policy: compiled.policy,
    shadow: false,
    allowed: true,
    remaining: 5,
    retryAfterMs: 0,
    resetAfterMs: 1,
  }
  answer({ verdicts: [verdict], takenAt: clock.now(), counted: true, source: 'flaky' })
  await settled()
  expect(passed).toEqual([5, -5])
  // a renewal holds no more units
  const renewed = hold.extend(0)
  await settled()
  clock.advance(50)
  expect(await renewed).toBe(true)
  expect(passed).toEqual([5, -5])
})
