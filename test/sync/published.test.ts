import { describe, expect, test } from '@jest/globals'
import {
  effectiveLevel,
  epochOf,
  FakeClock,
  PublishedLimiter,
  PublishedStore,
  syncIntervalMs,
  tierOf,
  weightedCount,
} from '@sluice/testkit'
import { publishedRow } from './published-row.ts'

function limiterOf(threshold: number, wallMs = 90_000) {
  const clock = new FakeClock({ wallMs })
  const store = new PublishedStore()
  return { clock, store, limiter: new PublishedLimiter({ clock, store, threshold }) }
}

describe('the model of the published limiter', () => {
  test.each([
    [60, 60, 1],
    [90, 60, 1],
    [119, 60, 1],
    [120, 60, 2],
    [0, 60, 0],
    [1_735_000_080, 60, 28_916_668],
    [30, 30, 1],
  ])('has second %d of windows of %d s in epoch %d', (seconds, windowSeconds, epoch) => {
    expect(epochOf(seconds, windowSeconds)).toBe(epoch)
  })

  test.each([
    [100, 0, 60, 100],
    [100, 0, 90, 50],
    [100, 50, 90, 100],
    [0, 100, 90, 100],
    [0, 0, 90, 0],
    [100, 100, 60, 200],
  ])(
    'with previous count %d and current count %d at second %d estimates %d',
    (previous, current, seconds, weighted) => {
      expect(weightedCount(previous, current, seconds, 60)).toBe(weighted)
    },
  )

  test.each([
    [100, 0, 0, 10, 100],
    [100, 5_000, 0, 10, 50],
    [100, 5_000, 30, 10, 80],
    [100, 10_000, 0, 10, 0],
    [10, 20_000, 5, 10, 5],
    [0, 0, 0, 10, 0],
    [0, 60_000, 7, 10, 7],
  ])(
    'has a level of %d, %d ms later, with %d pending, leaking %d a second, at %d',
    (estimate, ms, pending, leak, level) => {
      expect(effectiveLevel(estimate, ms, pending, leak)).toBe(level)
    },
  )

  test.each([
    [0, 'idle'],
    [0.05, 'idle'],
    [0.0999, 'idle'],
    [0.1, 'low'],
    [0.3, 'low'],
    [0.4999, 'low'],
    [0.5, 'normal'],
    [0.65, 'normal'],
    [0.7999, 'normal'],
    [0.8, 'hot'],
    [0.9, 'hot'],
    [1, 'hot'],
    [2, 'hot'],
  ])('has a pressure of %d in the tier %s', (pressure, tier) => {
    expect(tierOf(pressure)).toBe(tier)
  })

  test.each([
    [0.05, undefined],
    [0.25, 60_000],
    [0.65, 15_000],
    [0.9, 7_500],
  ])('reads a key of pressure %d every %s ms', (pressure, ms) => {
    expect(syncIntervalMs(pressure, 15)).toBe(ms)
  })

  test('limits no client below the threshold, and limits from the unit that reaches it', () => {
    const { limiter } = limiterOf(5)
    expect(Array.from({ length: 6 }, () => limiter.check('k').limited)).toEqual([
      false,
      false,
      false,
      false,
      true,
      true,
    ])
  })

  test('allows the first check of a key, however many units it has', () => {
    const { limiter } = limiterOf(5)
    expect(limiter.check('k', 1_000)).toEqual({ limited: false, level: 1_000 })
    expect([...limiter.toRead]).toEqual(['k'])
  })

  test('counts the units of a check as pending, and also writes the units of denied checks', () => {
    const { limiter, store } = limiterOf(5)
    for (let check = 0; check < 4; check++) limiter.check('k', 3)
    expect(limiter.pendingOf('k')).toBe(12)
    limiter.tick()
    expect(store.count('k', 1)).toBe(12)
  })

  test('reads 7 now and 3 before, half a window in, as 8.5, with nothing pending', () => {
    const { limiter, store } = limiterOf(10)
    store.add('k', 0, 3)
    limiter.check('k', 7)
    limiter.tick()
    expect(limiter.pendingOf('k')).toBe(0)
    expect(limiter.check('k', 0)).toEqual({ limited: false, level: 8.5 })
  })

  test('reads a hot key again after 7.5 s, and not earlier', () => {
    const { limiter, clock } = limiterOf(10)
    limiter.check('k', 9)
    limiter.tick()
    clock.advance(7_500)
    limiter.check('k', 0)
    expect(limiter.toRead.size).toBe(0)
    clock.advance(1)
    limiter.check('k', 0)
    limiter.check('k', 0)
    expect([...limiter.toRead]).toEqual(['k'])
  })
})

test.each([
  [5, 10, 2.2, 3.4],
  [20, 2, 1.9, 2.2],
  [20, 10, 9.5, 10.5],
])(
  'a fleet of %d published limiters at %d times its limit admits %d to %d limits in a window, and about none afterwards',
  (nodes, demand, least, most) => {
    const row = publishedRow(nodes, demand)
    expect(row.most).toBeGreaterThan(least)
    expect(row.most).toBeLessThan(most)
    expect(row.steady).toBeLessThan(0.02)
  },
)
