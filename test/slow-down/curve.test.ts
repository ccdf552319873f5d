import { describe, expect, test } from '@jest/globals'
import { SlowDownGate, type SlowDownOptions } from '@sluice/http'
import { compilePolicy } from '@sluice/limiter-core/backend'
import { baseSeed, FakeClock, referenceModel } from '@sluice/testkit'
import fc from 'fast-check'
import { viewOf } from '../keys/request-view.ts'

type Options = SlowDownOptions<{ cost: number }>

/** Sends requests with these costs, each after a wait, and returns the delay of each request. */
function delaysOf(options: Options, asks: readonly { waitMs?: number; cost?: number }[]): number[] {
  const clock = new FakeClock()
  const guard = new SlowDownGate<{ cost: number }, unknown>({ cost: ({ cost }) => cost, clock, ...options })
  return asks.map(({ waitMs = 0, cost = 1 }) => {
    clock.advance(waitMs)
    const check = guard.check(viewOf({ raw: { cost } }))
    return (check as { delayMs: number }).delayMs
  })
}

const ones = (times: number): { cost: number }[] => Array.from({ length: times }, () => ({ cost: 1 }))

describe('the curve', () => {
  test.each<[string, Partial<Options>, readonly number[]]>([
    ['a step per unit, up to the maximum', { delayMs: 100, maxDelayMs: 250 }, [0, 0, 100, 200, 250, 250, 250]],
    ['in words', { delayMs: '1s', maxDelayMs: '1m', after: 1 }, [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000]],
    ['starting with the first request', { delayMs: 5, maxDelayMs: 20, after: 0 }, [5, 10, 15, 20, 20, 20, 20]],
    ['a step above the maximum', { delayMs: 90, maxDelayMs: 50 }, [0, 0, 50, 50, 50, 50, 50]],
    ['a function', { delayMs: (over) => 2 ** over, maxDelayMs: 9 }, [0, 0, 2, 4, 8, 9, 9]],
    ['a constant function', { delayMs: () => 7, maxDelayMs: '1h' }, [0, 0, 7, 7, 7, 7, 7]],
    [
      'a function that decreases again',
      { delayMs: (over) => [9, 4, 6][over - 1] ?? 1, maxDelayMs: 50 },
      [0, 0, 9, 4, 6, 1, 1],
    ],
    ['an unbounded function', { delayMs: () => Number.POSITIVE_INFINITY, maxDelayMs: 3 }, [0, 0, 3, 3, 3, 3, 3]],
  ])('%s', (_what, options, expected) => {
    const all = { after: 2, window: '1h', ...options } as Options
    expect(delaysOf(all, ones(expected.length))).toEqual(expected)
  })

  test('of a slope has as many steps as needed: 100,000 steps of 1 ms', () => {
    const options = { after: 0, window: '1h', delayMs: 1, maxDelayMs: 100_000 } as const
    expect(delaysOf(options, [{ cost: 99_999 }, { cost: 1 }, { cost: 1 }])).toEqual([99_999, 100_000, 100_000])
  })

  test('of a function is evaluated for 10,000 units, and further units wait like the last of these', () => {
    const asked: number[] = []
    const delayMs = (over: number): number => asked.push(over)
    const options: Options = { after: 0, window: '1h', delayMs, maxDelayMs: '1h' }
    expect(delaysOf(options, [{ cost: 9_999 }, { cost: 1 }, { cost: 1 }])).toEqual([9_999, 10_000, 10_000])
    expect([asked.length, asked[0], asked[9_999]]).toEqual([10_000, 1, 10_000])
  })

  test('a request of several units waits as long as its last unit', () => {
    const options = { after: 5, window: '1h', delayMs: 10, maxDelayMs: 1_000 } as const
    const asks = [{ cost: 5 }, { cost: 3 }, { cost: 0 }, { cost: 2 }]
    expect(delaysOf(options, asks)).toEqual([0, 30, 30, 50])
  })

  test('a request that does not fit waits longest and does not change the count', () => {
    const options = { after: 2, window: '1h', delayMs: 10, maxDelayMs: 40 } as const
    expect(delaysOf(options, [{ cost: 7 }, { cost: 1 }, { cost: 6 }, { cost: 2 }])).toEqual([40, 0, 40, 10])
  })
})

describe('the end of the curve', () => {
  const options = { after: 10, window: '10s', delayMs: 100, maxDelayMs: 1_000 } as const

  test('is the maximum delay for a client that keeps sending', () => {
    const hammering = Array.from({ length: 3_000 }, () => ({ waitMs: 10 }))
    const delays = delaysOf(options, [...ones(20), ...hammering])
    expect(new Set(delays.slice(19))).toEqual(new Set([1_000]))
  })

  test('no longer applies once the window passes, however many requests were sent before', () => {
    const waits = [{ waitMs: 10_000 }, { waitMs: 2_500 }, { waitMs: 2_500 }, { waitMs: 2_000 }]
    const left = [0, 0, 0, 0]
    expect(delaysOf(options, [...ones(20), ...waits]).slice(20)).toEqual(left)
    expect(delaysOf(options, [...ones(2_000), ...waits]).slice(2_000)).toEqual(left)
    // of 20 evenly spaced units, 20, 15, 10 and 6 are left, and each of these requests adds one
    const evenly = Array.from({ length: 20 }, () => ({ waitMs: 500 }))
    expect(delaysOf(options, [...evenly, ...[{ waitMs: 500 }, ...waits.slice(1)]]).slice(20)).toEqual([
      1_000, 700, 300, 0,
    ])
  })

  test('of a fixed window no longer applies after its end', () => {
    const fixed = { ...options, algorithm: 'fixed-window' } as const
    expect(delaysOf(fixed, [...ones(30), { waitMs: 9_999 }, { waitMs: 1 }]).slice(29)).toEqual([1_000, 1_000, 0])
  })
})

describe('over any traffic', () => {
  const anyAsk = fc.record({ waitMs: fc.nat({ max: 4_000 }), cost: fc.integer({ min: 0, max: 6 }) })
  const anyOptions = fc.record({
    after: fc.nat({ max: 12 }),
    delayMs: fc.integer({ min: 1, max: 400 }),
    maxDelayMs: fc.integer({ min: 1, max: 4_000 }),
    algorithm: fc.constantFrom('sliding-window', 'fixed-window', 'token-bucket', 'sliding-log' as const),
  })

  test('a request waits as long as the simple model of its policy computes', () => {
    fc.assert(
      fc.property(anyOptions, fc.array(anyAsk, { maxLength: 60 }), (options, asks) => {
        const { after, delayMs, maxDelayMs, algorithm } = options
        const steps = Math.ceil(maxDelayMs / delayMs)
        fc.pre(algorithm !== 'sliding-log' || after + steps <= 128)
        const limit = after + steps
        const model = referenceModel(compilePolicy({ limit, window: '10s', algorithm: algorithm as 'fixed-window' }))
        let now = 0
        const expected = asks.map(({ waitMs, cost }) => {
          now += waitMs
          const { allowed, remaining } = model.take(now, cost)
          if (!allowed && remaining === 0 && algorithm === 'sliding-window') model.adjust(now, cost, now)
          const over = allowed ? limit - remaining - after : steps
          return Math.min(Math.max(0, over) * delayMs, maxDelayMs)
        })
        expect(delaysOf({ ...options, window: '10s' } as Options, asks)).toEqual(expected)
      }),
      { numRuns: 300, seed: baseSeed() },
    )
  })

  test('a client with at most `after` units in any window never waits, with a log', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(anyAsk, { maxLength: 80 }), (after, asks) => {
        const log: { at: number; cost: number }[] = []
        let now = 0
        const within = asks.filter(({ waitMs, cost }) => {
          now += waitMs
          const used = log.filter(({ at }) => at > now - 10_000).reduce((sum, one) => sum + one.cost, 0)
          if (used + cost > after) {
            now -= waitMs
            return false
          }
          log.push({ at: now, cost })
          return true
        })
        const options = { after, window: '10s', algorithm: 'sliding-log', delayMs: 10, maxDelayMs: 100 } as const
        expect(delaysOf(options, within).every((delay) => delay === 0)).toBe(true)
      }),
      { numRuns: 200, seed: baseSeed() },
    )
  })
})
