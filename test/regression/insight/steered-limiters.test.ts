import { expect, test } from '@jest/globals'
import { createLimiter, limitOverrides, type PolicyInput, type SyncLimiterOptions } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { Operator } from '../../limiter/controls/steered.ts'

const MINUTE = { name: 'minute', limit: 60, window: '1m' } as const
const HOUR = { name: 'hour', limit: 100, window: '1h', algorithm: 'fixed-window' } as const

function steered(policies: readonly PolicyInput[]) {
  const operator = new Operator()
  const clock = new FakeClock()
  return { operator, clock, limiter: createLimiter({ policies, clock, observers: [operator] } as SyncLimiterOptions) }
}

const ALGORITHMS = ['gcra', 'token-bucket', 'fixed-window', 'sliding-window', 'sliding-log'] as const

test.each(ALGORITHMS)('what is refunded while another limit holds is what was taken: %s', (algorithm) => {
  const { operator, limiter } = steered([{ ...MINUTE, algorithm }])
  operator.steer({ minute: { limit: 4 } })
  const taken = limiter.take('key', 3)
  expect(taken.binding.remaining).toBe(1)
  expect(limiter.charge('key', -3, taken).binding).toMatchObject({ remaining: 4, policy: { limit: 4 } })
})

test('nothing comes back of a policy that was switched off when the others were taken from', () => {
  const { operator, limiter } = steered([{ ...MINUTE, algorithm: 'fixed-window' }, HOUR])
  limiter.take('key', 10)
  operator.steer({ minute: { mode: 'off' } })
  const taken = limiter.take('key', 5)
  operator.release()
  limiter.charge('key', -5, taken)
  expect(limiter.peek('key').verdicts.map(({ remaining }) => remaining)).toEqual([50, 90])
})

test('nothing comes back of a policy that was switched off alone', () => {
  const { operator, limiter } = steered([{ ...MINUTE, algorithm: 'fixed-window' }])
  limiter.take('key', 10)
  operator.steer({ minute: { mode: 'off' } })
  const taken = limiter.take('key', 5)
  operator.release()
  limiter.charge('key', -5, taken)
  limiter.charge('key', 3, taken)
  expect(limiter.peek('key').binding.remaining).toBe(50)
})

test('a limiter of a policy that exempts is steered, and off is no exemption', () => {
  const overrides = limitOverrides({ limits: { big: 9 }, others: 'exempt' })
  const { operator, limiter } = steered([{ ...MINUTE, algorithm: 'fixed-window', overrides }])
  operator.steer({ minute: { mode: 'off' } })
  const taken = limiter.take('big')
  operator.release()
  limiter.take('big', 4)
  limiter.charge('big', -1, taken)
  expect(limiter.peek('big').binding.remaining).toBe(5)
})
