import { describe, expect, test } from '@jest/globals'
import { createLimiter, limitOverrides, memoryBackend } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { limited, loading, MINUTE, passing, SECOND } from './overridden.ts'

describe('a key with an override', () => {
  test('has its own limit, and all other keys have the limit of the policy', () => {
    const limiter = limited(limitOverrides({ limits: { big: 20, small: 2 } }))
    expect(['big', 'small', 'other'].map((key) => passing(() => limiter.take(key)))).toEqual([20, 2, 10])
  })

  test('has verdicts with a policy of the same name, algorithm and window', () => {
    const limiter = limited(limitOverrides({ limits: { big: 20 } }), { algorithm: 'fixed-window', unit: 'calls' })
    const { policy, remaining } = limiter.take('big').binding
    expect(policy).toEqual({ name: 'api', algorithm: 'fixed-window', limit: 20, windowMs: MINUTE, unit: 'calls' })
    expect(remaining).toBe(19)
    expect(limiter.take('other').binding.policy.limit).toBe(10)
  })

  test('reports exactly when more fits', () => {
    const clock = new FakeClock()
    const limiter = limited(limitOverrides({ limits: { small: 1 } }), { algorithm: 'fixed-window' }, clock)
    limiter.take('small')
    expect(limiter.take('small')).toMatchObject({ allowed: false, retryAfterMs: MINUTE })
    clock.advance(MINUTE)
    expect(limiter.take('small').allowed).toBe(true)
  })

  test('may have the same limit as the policy', () => {
    const limiter = limited(limitOverrides({ limits: { same: 10 } }))
    expect(passing(() => limiter.take('same'))).toBe(10)
  })

  test('may have the name of a property of Object.prototype', () => {
    const limits = JSON.parse('{"__proto__": 3}') as Record<string, number>
    const limiter = limited(limitOverrides({ limits }))
    expect(passing(() => limiter.take('__proto__'))).toBe(3)
    expect(passing(() => limiter.take('constructor'))).toBe(10)
  })

  test.each(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const)(
    'is counted by %s like a policy with that limit',
    (algorithm) => {
      const limiter = limited(limitOverrides({ limits: { big: 30, small: 2 } }), { algorithm })
      expect(['big', 'small', 'other'].map((key) => passing(() => limiter.take(key)))).toEqual([30, 2, 10])
    },
  )

  test.each(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const)(
    'gets the same decisions from %s as a policy with that limit',
    async (algorithm) => {
      await eachSeed(20, (random) => {
        const clock = new FakeClock({ nowMs: 1_000 })
        const limit = 1 + random.whole(100)
        const shape = { algorithm, window: 1_000 * (1 + random.whole(60)) }
        const overridden = limited(limitOverrides({ limits: { key: limit } }), shape, clock)
        const plain = createLimiter({
          policies: [{ name: 'api', limit, ...shape }],
          backend: memoryBackend({ clock }),
          clock,
        })
        for (let step = 0; step < 200; step++) {
          clock.advance(random.whole(1_000))
          const cost = random.whole(6)
          const answers = [overridden, plain].map((limiter) => {
            const taken = limiter.take('key', cost)
            if (taken.allowed && step % 7 === 0) limiter.charge('key', -cost, taken)
            return JSON.parse(JSON.stringify(taken))
          })
          expect(answers[0]).toEqual(answers[1])
        }
      })
    },
  )

  test('keeps the burst of the policy', () => {
    const limiter = limited(limitOverrides({ limits: { big: 60 } }), { algorithm: 'token-bucket', burst: 5 })
    expect(passing(() => limiter.take('big'))).toBe(5)
    expect(limiter.peek('big', 1).retryAfterMs).toBe(SECOND)
  })

  test('is reset, charged and peeked by its own limit', () => {
    const limiter = limited(limitOverrides({ limits: { big: 20 } }))
    limiter.charge('big', 15)
    expect(limiter.peek('big').binding.remaining).toBe(5)
    limiter.charge('big', -5)
    expect(limiter.peek('big').binding.remaining).toBe(10)
    limiter.reset('big')
    expect(limiter.peek('big').binding).toMatchObject({ remaining: 20, resetAfterMs: 0 })
  })

  test('in shadow is counted by its own limit, and not denied', () => {
    const limiter = limited(limitOverrides({ limits: { small: 1 } }), { mode: 'shadow' })
    limiter.take('small')
    expect(limiter.take('small')).toMatchObject({ allowed: true, verdicts: [{ allowed: false, shadow: true }] })
  })

  test('is reported to observers like any other key', () => {
    const decided: [string, number][] = []
    const limiter = createLimiter({
      policies: [
        { name: 'api', limit: 10, window: '1m', overrides: limitOverrides({ limits: { big: 20 } }) },
        { name: 'all', limit: 100, window: '1m' },
      ],
      observers: [{ decided: (key, { binding }) => decided.push([key, binding.policy.limit]) }],
    })
    limiter.take({ api: 'big', all: 'everybody' }, 5)
    expect(decided).toEqual([['big', 20]])
    limiter.close()
  })
})

describe('a policy without an algorithm', () => {
  test('does not use a log if overrides may be too large for a log', () => {
    const { limiter } = loading({})
    expect(limiter.policies[0].algorithm).toBe('sliding-window')
    const fixed = (limits: Record<string, number>) => limited(limitOverrides({ limits })).policies[0].algorithm
    expect([fixed({ a: 32 }), fixed({ a: 33 })]).toEqual(['sliding-log', 'sliding-window'])
  })

  test('that uses a log has the same capacity for all keys, so that used units survive a change of limit', async () => {
    const clock = new FakeClock()
    let limits = { key: 5 }
    const overrides = limitOverrides({ load: () => limits, clock })
    const limiter = limited(overrides, { algorithm: 'sliding-log' }, clock)
    limiter.take('key', 4)
    limits = { key: 100 }
    clock.advance(MINUTE - 1)
    clock.advance(1)
    limiter.take('key', 4)
    limits = { key: 5 }
    clock.advance(MINUTE - 1)
    limiter.take('key', 0)
    expect(limiter.peek('key').binding.policy.limit).toBe(100)
    expect(limiter.peek('key').binding.remaining).toBe(96)
  })
})

describe('a hierarchical key', () => {
  const overrides = limitOverrides({
    limits: { tok: 20, 'tok:special': 30, '': 5, ':alice': 6, 'a:b': 7 },
    hierarchical: true,
  })
  const flat = limitOverrides({ limits: { tok: 20 } })

  test.each<[key: string, limit: number | undefined]>([
    ['tok', 20],
    ['tok:a', 20],
    ['tok:a:b', 20],
    ['tok:', 20],
    ['tok::', 20],
    ['tok:special', 30],
    ['tok:special:more', 20],
    ['tok:specialist', 20],
    ['token', undefined],
    ['token:a', undefined],
    ['to', undefined],
    ['TOK:a', undefined],
    [':alice', 6],
    [':bob', undefined],
    [':', undefined],
    ['', 5],
    ['a:b', 7],
    ['a:b:c', undefined],
    ['a', undefined],
    ['other:tok', undefined],
  ])('%j has the limit %s', (key, limit) => {
    expect(overrides.limitOf(key)).toBe(limit)
    expect(limited(overrides).peek(key).binding.policy.limit).toBe(limit ?? 10)
  })

  test('is counted separately: only its limit comes from its prefix', () => {
    const limiter = limited(overrides)
    expect(['tok', 'tok:a', 'tok:b'].map((key) => passing(() => limiter.take(key)))).toEqual([20, 20, 20])
  })

  test('is a plain key if overrides are not hierarchical', () => {
    expect([flat.limitOf('tok'), flat.limitOf('tok:a')]).toEqual([20, undefined])
  })
})
