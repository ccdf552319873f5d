import { describe, expect, test } from '@jest/globals'
import {
  createLimiter,
  type Decision,
  type Limiter,
  limitOverrides,
  memoryBackend,
  type PolicyInput,
} from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { Operator } from '../../limiter/controls/controlled.ts'

// units that belong to a take which a policy did not count are not counted either

const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const

interface Bench {
  readonly clock: FakeClock
  readonly operator: Operator
  readonly limiter: Limiter<Decision>
  /** Returns the units that are left under each policy. */
  left(): readonly number[]
}

function benchOf(...policies: readonly Omit<PolicyInput, 'limit' | 'window' | 'backend'>[]): Bench {
  const clock = new FakeClock({ nowMs: 1_000 })
  const operator = new Operator()
  const limiter = createLimiter({
    policies: policies.map((policy) => ({ limit: 10, window: '1m', ...policy })),
    backend: memoryBackend({ clock }),
    clock,
    observers: [operator],
  })
  return { clock, operator, limiter, left: () => limiter.peek('a').verdicts.map(({ remaining }) => remaining) }
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  test.each([
    ['more than it reserved', 5],
    ['less than it reserved', 0],
  ])('a hold that began while the only policy was off spends %s: nothing', (_, actual) => {
    const { clock, operator, limiter, left } = benchOf({ name: 'p', algorithm, maxHoldMs: '1m' })
    limiter.take('a', 4)
    operator.setControls({ p: { mode: 'off' } })
    const hold = limiter.hold('a', { reserve: 2 })
    operator.release()
    hold.settle(actual)
    expect(left()).toEqual([6])
    expect(clock.pending).toBe(0)
  })

  test('a hold that began while one of two policies was off spends units of the other one', () => {
    const { operator, limiter, left } = benchOf(
      { name: 'p', algorithm, maxHoldMs: '1m' },
      { name: 'q', algorithm, maxHoldMs: '1m' },
    )
    operator.setControls({ p: { mode: 'off' } })
    const hold = limiter.hold('a', { reserve: 2 })
    operator.release()
    hold.settle(3)
    expect(left()).toEqual([10, 7])
  })

  test('units are not charged to a policy that was off while the key was exempt from the other one', () => {
    const overrides = limitOverrides({ limits: { vip: 5 }, others: 'exempt' })
    const { operator, limiter, left } = benchOf({ name: 'p', algorithm }, { name: 'q', algorithm, overrides })
    operator.setControls({ p: { mode: 'off' } })
    const taken = limiter.take('a')
    operator.release()
    limiter.charge('a', 5, taken)
    expect(left()[0]).toBe(10)
  })

  test('a hold spends units under the limit of an operator', () => {
    const { operator, limiter, left } = benchOf({ name: 'p', algorithm, maxHoldMs: '1m' })
    operator.setControls({ p: { limit: 5 } })
    const hold = limiter.hold('a', { reserve: 3 })
    expect(left()).toEqual([2])
    hold.settle(3)
    expect(left()).toEqual([2])
  })
})
