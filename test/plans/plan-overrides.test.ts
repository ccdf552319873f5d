import { describe, expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { limitOverrides, memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

type Plan = Omit<PolicyInput, 'name'>

/** Two plans whose keys have overrides in the first, in the second, or in both. */
function opened(free: Plan, pro: Plan, overridden: readonly ('free' | 'pro')[]) {
  const clock = new FakeClock({ nowMs: 1_000 })
  const source: { limits: Record<string, number> } = { limits: {} }
  const overrides = limitOverrides({ load: () => source.limits, clock, refreshMs: '1s' })
  const of = (plan: 'free' | 'pro', input: Plan) => [
    { name: 'quota', ...input, ...(overridden.includes(plan) && { overrides }) },
  ]
  const plans = { free: of('free', free), pro: of('pro', pro) }
  const gate = new RateGate({ plans, plan: () => undefined, clock, backend: memoryBackend({ clock }) } as never)
  const take = async (plan: string, cost = 1) => gate.limiter(plan).take('key', cost)
  const left = async (plan: string) => (await gate.limiter(plan).peek('key', 0)).binding.remaining
  const change = (limits: Record<string, number>): void => {
    source.limits = limits
    clock.advance(1_000)
  }
  return { clock, gate, take, left, change }
}

const fixed = (limit: number, window: PolicyInput['window'] = '1h') =>
  ({ algorithm: 'fixed-window', limit, window }) as const
const bucket = (limit: number, window: PolicyInput['window'] = '1h') =>
  ({ algorithm: 'token-bucket', limit, window }) as const

describe('plans with the same cells', () => {
  test('and an override count together', async () => {
    const { take, left, change } = opened(fixed(10), fixed(100), ['free'])
    change({ key: 30 })
    await take('free', 25)
    expect([await left('free'), await left('pro')]).toEqual([5, 75])
    change({})
    expect([await left('free'), await left('pro')]).toEqual([0, 75])
    await take('pro', 5)
    change({ key: 40 })
    expect(await left('free')).toBe(10)
  })

  test('with a log have capacity for the largest possible override', async () => {
    const log = (limit: number) => ({ algorithm: 'sliding-log', limit, window: '1h' }) as const
    const { take, left, change } = opened(log(5), log(10), ['free', 'pro'])
    await take('pro', 4)
    change({ key: 128 })
    await take('free', 100)
    expect([await left('free'), await left('pro')]).toEqual([24, 24])
    change({})
    expect([await left('free'), await left('pro')]).toEqual([0, 0])
  })
})

describe('plans with different cells', () => {
  test.each([
    ['a smaller', 6],
    ['a larger', 20],
    ['the largest', 500],
  ])('and %s override count together', async (_what, limit) => {
    const { take, left, change } = opened(bucket(10), fixed(100), ['free'])
    await take('free', 4)
    change({ key: limit })
    // 1 s returned only a part of a unit
    expect(await left('free')).toBe(limit - 4)
    await take('free', 2)
    expect(await left('pro')).toBe(94)
    change({})
    expect(await left('free')).toBe(4)
  })

  test('with two rates keep separate cells whatever the rate of an override', async () => {
    const { take, left, change } = opened(bucket(10), bucket(1_000), ['free', 'pro'])
    await take('free', 5)
    change({ key: 5_000 })
    await take('free', 2)
    await take('pro', 2)
    change({ key: 3 })
    expect([await left('free'), await left('pro')]).toEqual([0, 0])
    change({})
    expect(await left('free')).toBeLessThanOrEqual(2)
    expect(await left('pro')).toBeGreaterThanOrEqual(991)
  })

  test('admit no more under an override than it promises in any window', async () => {
    const { take, change, clock } = opened(bucket(10, '1m'), fixed(100, '1m'), ['free'])
    change({ key: 30 })
    let passed = 0
    const startedAt = clock.now()
    while (clock.now() < startedAt + 60_000) {
      if ((await take('free')).allowed) passed++
      clock.advance(250)
    }
    expect(passed).toBeLessThanOrEqual(60)
    expect(passed).toBeGreaterThanOrEqual(58)
  })
})
