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

const SHADOW = { requests: { mode: 'shadow' }, tokens: { mode: 'shadow' } } as const

test.each([
  { actual: 0, back: 'nothing' },
  { actual: 2, back: 'less than it would have held' },
])('a hold that took nothing under a control gives $back back', ({ actual }) => {
  const { operator, limiter, left } = benchOf([REQUESTS, TOKENS])
  limiter.take('anna', { requests: 10, tokens: 900 })
  operator.setControls(SHADOW)
  const hold = limiter.hold('anna', { reserve: { requests: 3, tokens: 150 } })
  expect([hold.allowed, left()]).toEqual([true, [0, 100]])
  hold.settle({ requests: actual, tokens: actual })
  operator.release()
  // work that ran is charged by its settlement, also if the policy would have denied it
  expect(left()).toEqual([0, 100 - actual])
  expect(limiter.take('anna', { requests: 0, tokens: 101 - actual }).allowed).toBe(false)
})

test('a policy in shadow mode that a control enforces gives back what it held beside a denying shadow policy', () => {
  const small = { ...REQUESTS, name: 'small', limit: 1, mode: 'shadow' } as const
  const { operator, limiter, left } = benchOf([{ ...TOKENS, mode: 'shadow' }, small])
  operator.setControls({ tokens: { mode: 'enforce' } })
  limiter.take('anna', { tokens: 0, small: 1 })
  const hold = limiter.hold('anna', { reserve: { tokens: 300, small: 1 } })
  expect([hold.allowed, left()]).toEqual([true, [700, 0]])
  hold.release()
  operator.release()
  expect(left()).toEqual([1_000, 0])
})

test.each(['off', 'shadow'] as const)('an extension while a policy is %s leaves what the hold has taken', (mode) => {
  const { operator, limiter, left } = benchOf([REQUESTS, TOKENS])
  const hold = limiter.hold('anna', { reserve: { requests: 5, tokens: 500 } })
  operator.setControls({ requests: { mode }, tokens: { mode } })
  // in shadow mode, units beyond the limit are allowed and not taken
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
