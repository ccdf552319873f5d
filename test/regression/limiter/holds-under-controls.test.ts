import { expect, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter, memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { Operator } from '../../limiter/controls/controlled.ts'

const REQUESTS = { name: 'requests', limit: 10, window: '1h', algorithm: 'fixed-window' } as const
const TOKENS = { name: 'tokens', limit: 1_000, window: '1h', algorithm: 'fixed-window', maxHoldMs: '10m' } as const

function benchOf(policies: readonly PolicyInput[]) {
  const clock = new FakeClock({ nowMs: 600_000 })
  const operator = new Operator()
  const limiter: Limiter<Decision> = createLimiter({
    policies: policies as readonly [],
    clock,
    backend: memoryBackend({ clock }),
    observers: [operator],
  })
  const left = (): readonly number[] => limiter.peek('anna', 0).verdicts.map(({ remaining }) => remaining)
  return { clock, operator, limiter, left }
}

test('an extension while a policy is off leaves what the hold has taken', () => {
  const { operator, limiter, left } = benchOf([REQUESTS, TOKENS])
  const hold = limiter.hold('anna', { reserve: { requests: 5, tokens: 500 } })
  operator.setControls({ requests: { mode: 'off' }, tokens: { mode: 'off' } })
  expect(hold.extend({ requests: 6, tokens: 501 })).toBe(true)
  operator.release()
  expect(left()).toEqual([5, 500])
  hold.settle({ requests: 1, tokens: 100 })
  expect(left()).toEqual([9, 900])
})

test.each(['gcra', 'token-bucket'] as const)(
  'units held under the limit of an operator return by that limit: %s',
  (algorithm) => {
    const { operator, limiter, left } = benchOf([{ ...REQUESTS, algorithm }, TOKENS])
    limiter.take('anna', { requests: 4, tokens: 0 })
    operator.setControls({ requests: { limit: 20 } })
    const hold = limiter.hold('anna', { reserve: { requests: 2, tokens: 0 } })
    operator.setControls({ requests: { limit: 5 } })
    hold.release()
    operator.release()
    expect(left()).toEqual([6, 1_000])
  },
)
