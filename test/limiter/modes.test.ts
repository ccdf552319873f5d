import { afterEach, describe, expect, test } from '@jest/globals'
import { createLimiter, type Decision, type LimiterOptions, type Mode } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'

const minute = { name: 'minute', limit: 3, window: '1m', algorithm: 'fixed-window' } as const
const hour = { name: 'hour', limit: 5, window: '1h', algorithm: 'fixed-window' } as const
const limiterOf = (options: Partial<LimiterOptions>) =>
  createLimiter({ policies: [minute], clock: new FakeClock(), ...(options as object) })

afterEach(() => {
  delete process.env.SLUICE_MODE
})

describe('shadow', () => {
  test('counts exactly as enforce does, and denies no request', () =>
    eachSeed(20, (random) => {
      const clock = new FakeClock()
      const [enforced, shadow] = (['enforce', 'shadow'] as const).map((mode) => limiterOf({ mode, clock }))
      for (let takes = 0; takes < 60; takes++) {
        clock.advance(random.whole(20_000))
        const cost = random.whole(5)
        const [real, watched] = [enforced.take('key', cost), shadow.take('key', cost)]
        expect(watched.allowed).toBe(true)
        expect(watched.retryAfterMs).toBe(0)
        expect(numbers(watched)).toEqual(numbers(real))
      }
    }))

  test('on one policy lets the other policies deny', () => {
    const limiter = limiterOf({ policies: [{ ...minute, mode: 'shadow' }, hour] })
    for (let takes = 0; takes < 3; takes++) limiter.take('key')
    const fourth = limiter.take('key')
    expect([fourth.allowed, fourth.verdicts.map(({ allowed }) => allowed)]).toEqual([true, [false, true]])
    expect(fourth.binding.policy.name).toBe('hour')
    limiter.take('key')
    expect(limiter.take('key')).toMatchObject({ allowed: false, retryAfterMs: 3_600_000 })
  })

  test('binds only if every policy is in shadow', () => {
    const decision = limiterOf({ mode: 'shadow' }).take('key', 4)
    expect(decision.binding).toMatchObject({ shadow: true, allowed: false })
    expect(decision.allowed).toBe(true)
  })
})

describe('off', () => {
  test('counts nothing, and the decision says so', () => {
    const limiter = limiterOf({ mode: 'off' })
    for (let takes = 0; takes < 9; takes++) limiter.take('key', 3)
    const decision = limiter.take('key', 3)
    expect(decision).toMatchObject({ allowed: true, counted: false, source: 'off', retryAfterMs: 0 })
    expect(decision.binding).toMatchObject({ remaining: 3, resetAfterMs: 0, allowed: true })
    expect(limiter.peek('key').allowed).toBe(true)
    expect(limiter.charge('key', 5).counted).toBe(false)
    expect(limiter.reset('key')).toBeUndefined()
  })

  test('on one policy omits it from every decision', () => {
    const limiter = limiterOf({ policies: [{ ...minute, mode: 'off' }, hour] })
    const { verdicts } = limiter.take('key', 5)
    expect(verdicts.map(({ policy }) => policy.name)).toEqual(['hour'])
    expect(limiter.take({ hour: 'key' }).allowed).toBe(false)
  })
})

describe('with two modes in code', () => {
  test.each<[Mode, Mode, boolean, boolean]>([
    ['enforce', 'enforce', false, true],
    ['enforce', 'shadow', true, true],
    ['shadow', 'enforce', true, true],
    ['shadow', 'off', true, false],
    ['off', 'shadow', true, false],
    ['off', 'enforce', true, false],
  ])('the weaker applies: limiter %s, policy %s', (mode, ofPolicy, allowed, counted) => {
    const limiter = limiterOf({ mode, policies: [{ ...minute, mode: ofPolicy }] })
    limiter.take('key', 3)
    expect(limiter.take('key')).toMatchObject({ allowed, counted })
  })
})

describe('SLUICE_MODE', () => {
  test.each<[Mode, boolean, boolean]>([
    ['off', true, false],
    ['shadow', true, true],
    ['enforce', false, true],
  ])('%s in the environment overrides the modes in code', (forced, allowed, counted) => {
    process.env.SLUICE_MODE = forced
    for (const mode of ['enforce', 'shadow', 'off'] as const) {
      const limiter = limiterOf({ mode })
      limiter.take('key', 3)
      expect(limiter.take('key')).toMatchObject({ allowed, counted })
    }
  })

  test('is read when a limiter is created, and an unknown mode is rejected', () => {
    const limiter = limiterOf({})
    process.env.SLUICE_MODE = 'off'
    limiter.take('key', 3)
    expect(limiter.take('key').allowed).toBe(false)
    process.env.SLUICE_MODE = 'disabled'
    expect(() => limiterOf({})).toThrow(
      expect.objectContaining({ code: 'SLUICE_BAD_OPTION', message: expect.stringContaining('SLUICE_MODE') }),
    )
  })

  test('has no effect if it is empty', () => {
    process.env.SLUICE_MODE = ''
    const limiter = limiterOf({ mode: 'shadow' })
    limiter.take('key', 3)
    expect(limiter.take('key')).toMatchObject({ allowed: true, counted: true })
  })
})

function numbers({ verdicts: [verdict] }: Decision) {
  const { allowed, remaining, retryAfterMs, resetAfterMs } = verdict
  return { allowed, remaining, retryAfterMs, resetAfterMs }
}
