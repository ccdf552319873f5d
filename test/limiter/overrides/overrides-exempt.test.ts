import { describe, expect, test } from '@jest/globals'
import { createLimiter, limitOverrides, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'
import { limited, MINUTE, passing, SECOND } from './overridden.ts'

describe('keys without an override', () => {
  test('pass uncounted if they are exempt', () => {
    const limiter = limited(limitOverrides({ limits: { small: 2 }, others: 'exempt' }))
    expect(passing(() => limiter.take('other'))).toBe(50)
    expect(limiter.take('other')).toMatchObject({ allowed: true, counted: false, source: 'exempt' })
    expect(limiter.peek('other')).toMatchObject({ allowed: true, counted: false })
    expect(passing(() => limiter.take('small'))).toBe(2)
  })

  test('that are exempt are not charged', () => {
    const limits = { key: 5 }
    const clock = new FakeClock()
    let now: Record<string, number> = {}
    const overrides = limitOverrides({ load: () => now, clock, others: 'exempt' })
    const limiter = limited(overrides, {}, clock)
    limiter.charge('key', 4)
    limiter.take('key', 4)
    now = limits
    clock.advance(MINUTE)
    expect(limiter.peek('key').binding).toMatchObject({ remaining: 5, policy: { limit: 5 } })
  })

  test('that were exempt are not refunded for uncharged units', () => {
    const clock = new FakeClock()
    let limits: Record<string, number> = {}
    const overrides = limitOverrides({ load: () => limits, clock, others: 'exempt', refreshMs: '1s' })
    const limiter = limited(overrides, {}, clock)
    const free = limiter.take('key', 4)
    limits = { key: 5 }
    clock.advance(SECOND)
    limiter.take('key', 5)
    limiter.charge('key', -4, free)
    expect(limiter.take('key').allowed).toBe(false)
  })

  test('are exempt only from that policy, which the decision omits', () => {
    const limiter = createLimiter({
      policies: [
        {
          name: 'few',
          limit: 100,
          window: '1m',
          overrides: limitOverrides({ limits: { small: 1 }, others: 'exempt' }),
        },
        { name: 'all', limit: 3, window: '1m' },
      ],
    })
    expect(limiter.take('other').verdicts.map(({ policy }) => policy.name)).toEqual(['all'])
    expect(passing(() => limiter.take('other'))).toBe(2)
    expect(passing(() => limiter.take('small'))).toBe(1)
    limiter.close()
  })
})

describe('several policies, one of them with overrides', () => {
  test('take all or none', () => {
    const limiter = createLimiter({
      policies: [
        { name: 'a', limit: 10, window: '1m', overrides: limitOverrides({ limits: { small: 2 } }) },
        { name: 'b', limit: 10, window: '1m' },
      ],
    })
    const left = () => limiter.peek('small').verdicts.map(({ remaining }) => remaining)
    limiter.take('small', 2)
    expect(limiter.take('small')).toMatchObject({ allowed: false, binding: { policy: { name: 'a', limit: 2 } } })
    expect(left()).toEqual([0, 8])
    limiter.close()
  })

  test('take all or none across several backends', async () => {
    const clock = new FakeClock()
    const far = new PromisedBackend(clock)
    const near = memoryBackend({ clock })
    const overrides = limitOverrides({ limits: { small: 2, big: 30 } })
    const limiter = createLimiter({
      policies: [
        { name: 'far', limit: 10, window: '1m', algorithm: 'fixed-window', backend: far, overrides },
        { name: 'near', limit: 20, window: '1m', algorithm: 'fixed-window', backend: near, overrides },
      ],
      clock,
    })
    const left = async (key: string) => (await limiter.peek(key)).verdicts.map(({ remaining }) => remaining)
    await limiter.take('small', 2)
    expect(await limiter.take('small')).toMatchObject({ allowed: false })
    await limiter.take('big', 25)
    const first = await limiter.take('other')
    expect([await left('small'), await left('big'), await left('other')]).toEqual([
      [0, 0],
      [5, 5],
      [9, 19],
    ])
    await limiter.charge('other', -1, first)
    await limiter.reset('big')
    expect([await left('big'), await left('other')]).toEqual([
      [30, 30],
      [10, 20],
    ])
    limiter.close()
  })
})

describe('a decision whose key has got a different limit', () => {
  const cases: [from: Record<string, number>, to: Record<string, number>, left: number][] = [
    [{ key: 20 }, { key: 30 }, 25],
    [{ key: 20 }, { key: 6 }, 1],
    [{ key: 20 }, {}, 5],
    [{}, { key: 20 }, 15],
  ]
  test.each(cases)('from %j to %j is refunded to the same count', (from, to, left) => {
    const clock = new FakeClock()
    let limits = from
    const overrides = limitOverrides({ load: () => limits, clock, refreshMs: '1s' })
    const limiter = limited(overrides, { algorithm: 'fixed-window' }, clock)
    limiter.take('key', 5)
    const taken = limiter.take('key', 4)
    limits = to
    clock.advance(SECOND)
    limiter.charge('key', -4, taken)
    expect(limiter.peek('key').binding.remaining).toBe(left)
  })

  test('is refunded even if its key is now exempt', () => {
    const clock = new FakeClock()
    let limits: Record<string, number> = { key: 5 }
    const overrides = limitOverrides({ load: () => limits, clock, refreshMs: '1s', others: 'exempt' })
    const limiter = limited(overrides, { algorithm: 'fixed-window' }, clock)
    const taken = limiter.take('key', 5)
    limits = {}
    clock.advance(SECOND)
    limiter.charge('key', -5, taken)
    limits = { key: 5 }
    clock.advance(SECOND)
    expect(limiter.peek('key').binding.remaining).toBe(5)
  })
})
