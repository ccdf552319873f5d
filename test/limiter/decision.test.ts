import { describe, expect, test } from '@jest/globals'
import { createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const limiterOf = (...policies: PolicyInput[]) => createLimiter({ policies: policies as never, clock: new FakeClock() })
const second = { name: 'second', limit: 2, window: '1s', algorithm: 'fixed-window' } as const
const minute = { name: 'minute', limit: 4, window: '1m', algorithm: 'fixed-window' } as const
const hour = { name: 'hour', limit: 100, window: '1h', algorithm: 'fixed-window' } as const

describe('a decision', () => {
  test('lists its verdicts in the order of the policies', () => {
    const { verdicts } = limiterOf(hour, second, minute).take('key')
    expect(verdicts.map(({ policy, remaining }) => [policy.name, remaining])).toEqual([
      ['hour', 99],
      ['second', 1],
      ['minute', 3],
    ])
  })

  test('is bound, when allowed, by the policy closest to its limit', () => {
    const limiter = limiterOf(hour, second, minute)
    expect(limiter.take('key').binding.policy.name).toBe('second')
    limiter.reset('key')
    expect(limiter.take('key', { hour: 99, second: 0, minute: 2 }).binding.policy.name).toBe('hour')
  })

  test('is bound, when denied, by the denied policy with the longest wait, which is the wait of the decision', () => {
    const limiter = limiterOf(hour, second, minute)
    limiter.take('key', { hour: 1, second: 2, minute: 4 })
    const decision = limiter.take('key')
    expect(decision.binding).toMatchObject({ policy: { name: 'minute' }, allowed: false, retryAfterMs: 60_000 })
    expect(decision.retryAfterMs).toBe(60_000)
    expect(decision.verdicts.map(({ allowed }) => allowed)).toEqual([true, false, false])
  })

  test('has no wait when it is allowed', () => {
    const decision = limiterOf(minute).take('key', 4)
    expect([decision.allowed, decision.retryAfterMs, decision.binding.retryAfterMs]).toEqual([true, 0, 0])
  })

  test('of a single policy has the same shape', () => {
    const decision = limiterOf(minute).take('key', 3)
    expect({
      allowed: decision.allowed,
      retryAfterMs: decision.retryAfterMs,
      takenAt: decision.takenAt,
      counted: decision.counted,
      source: decision.source,
      verdicts: decision.verdicts.length,
    }).toEqual({ allowed: true, retryAfterMs: 0, takenAt: 0, counted: true, source: 'memory', verdicts: 1 })
    expect(decision.binding).toBe(decision.verdicts[0])
    const { policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs } = decision.binding
    expect([policy.name, shadow, allowed, remaining, retryAfterMs, resetAfterMs]).toEqual([
      'minute',
      false,
      true,
      1,
      0,
      60_000,
    ])
  })

  test('contains its time, so that a refund finds its window', () => {
    const clock = new FakeClock({ nowMs: 5 })
    const limiter = createLimiter({ policies: [minute], clock })
    const first = limiter.take('key', 3)
    clock.advance(60_000)
    limiter.take('key', 2)
    limiter.charge('key', -3, first)
    expect([first.takenAt, limiter.peek('key').binding.remaining]).toEqual([5, 2])
  })

  test('uses the time that the caller passes', () => {
    const limiter = limiterOf(minute)
    limiter.take('key', 4, { now: 10_000 })
    expect(limiter.take('key', 1, { now: 69_999 })).toMatchObject({ allowed: false, retryAfterMs: 1, takenAt: 69_999 })
    expect(limiter.peek('key', 1, { now: 70_000 }).allowed).toBe(true)
    expect(limiter.take('key', 1, { now: 70_000 }).allowed).toBe(true)
  })
})
