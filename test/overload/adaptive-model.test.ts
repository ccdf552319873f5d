import { describe, expect, test } from '@jest/globals'
import { type AdaptiveOptions, adaptive, type LimitAlgorithmName } from '@sluice/overload'
import {
  BIMODAL,
  DRIFTING,
  eachSeed,
  type OverloadModel,
  type OverloadResult,
  playModel,
  quantileOf,
  type SeededRandom,
} from '@sluice/testkit'

const WORKERS = 12
const [SECOND, MINUTE] = [1_000, 60_000]
const ALGORITHMS: readonly LimitAlgorithmName[] = ['throughput', 'gradient', 'vegas', 'aimd']

const EXPONENTIAL: OverloadModel = {
  perSecond: 300,
  serviceMs: (_at, random) => -120 * Math.log(1 - random.next()),
  durationMs: 2 * MINUTE,
}

interface Model extends OverloadModel {
  readonly limit?: number | AdaptiveOptions
}

async function play(random: SeededRandom, { limit = {}, ...model }: Model) {
  return playModel(random, model, typeof limit === 'number' ? limit : adaptive({ min: 2, max: 150, ...limit }))
}

const share = (done: number, possible: number): number => done / possible
const completed = ({ completedPerSecond }: OverloadResult, from: number, to: number): number =>
  completedPerSecond.slice(from, to).reduce((sum, one) => sum + one, 0)

describe.each(ALGORITHMS)('the algorithm %s', (algorithm) => {
  const limit: AdaptiveOptions = algorithm === 'aimd' ? { algorithm, timeout: '200ms' } : { algorithm }

  test('grows while the limit is full and more work at once takes no longer', () =>
    eachSeed(3, async (random) => {
      const run = await play(random, {
        perSecond: 3_000,
        workers: 100,
        serviceMs: () => 50,
        durationMs: 20 * SECOND,
        limit,
      })
      expect(run.limits.at(-1)).toBeGreaterThan(60)
      expect(share(completed(run, 15, 20), 5 * 2_000)).toBeGreaterThan(0.85)
    }))

  test('stays as it is while it is not used', () =>
    eachSeed(3, async (random) => {
      const run = await play(random, { perSecond: 20, serviceMs: () => 50, durationMs: MINUTE, limit })
      expect(Math.max(...run.limits)).toBeLessThanOrEqual(20)
      expect(run.sources[0].refused).toBe(0)
    }))

  test('stays between min and max, whatever the durations are', () =>
    eachSeed(5, async (random) => {
      const serviceMs = (): number => 10 ** (4 * random.next() - 1)
      const bounds = { min: 3, max: 9, initial: 5 }
      const run = await play(random, {
        perSecond: 500,
        serviceMs,
        durationMs: 30 * SECOND,
        limit: { ...limit, ...bounds },
      })
      expect(Math.min(...run.limits)).toBeGreaterThanOrEqual(3)
      expect(Math.max(...run.limits)).toBeLessThanOrEqual(9)
    }))

  test('recovers when the service has become three times as slow, and again when it is fast', () =>
    eachSeed(3, async (random) => {
      const serviceMs = (at: number): number => (at >= 20 * SECOND && at < MINUTE ? 150 : 50)
      const run = await play(random, { perSecond: 300, serviceMs, durationMs: 90 * SECOND, limit })
      expect(share(completed(run, 25, 60), 35 * 80)).toBeGreaterThan(0.85)
      expect(share(completed(run, 65, 90), 25 * 240)).toBeGreaterThan(0.85)
    }))
})

describe('the default algorithm', () => {
  test('keeps the throughput of a service that is slower for a while, and its latency below three service times', () =>
    eachSeed(3, async (random) => {
      const serviceMs = (at: number): number => (at >= 20 * SECOND && at < 140 * SECOND ? 150 : 50)
      const run = await play(random, { perSecond: 100, serviceMs, durationMs: 170 * SECOND })
      expect(share(completed(run, 1, 20), 19 * 100)).toBeGreaterThan(0.9)
      expect(share(completed(run, 20, 140), 120 * 80)).toBeGreaterThan(0.9)
      expect(share(completed(run, 145, 170), 25 * 100)).toBeGreaterThan(0.9)
      expect(quantileOf(run.sources[0].latencies, 0.99)).toBeLessThan(3 * 150)
    }))

  test.each([100, 97, 300])('does not run away at %s requests per second of a possible 100', (perSecond) =>
    eachSeed(2, async (random) => {
      const run = await play(random, { perSecond, serviceMs: () => 120, durationMs: 10 * MINUTE })
      expect(Math.max(...run.limits.slice(10))).toBeLessThanOrEqual(2 * WORKERS)
      expect(quantileOf(run.sources[0].latencies.slice(-1_000), 0.99)).toBeLessThan(3 * 120)
      expect(share(run.sources[0].completed, 600 * Math.min(100, perSecond))).toBeGreaterThan(0.88)
    }),
  )

  test('follows a service time that doubles in half an hour', () =>
    eachSeed(1, async (random) => {
      const run = await play(random, DRIFTING)
      const possible = (WORKERS / 0.05) * (30 * 60) * Math.LN2
      expect(share(run.sources[0].completed, possible)).toBeGreaterThan(0.95)
      expect(quantileOf(run.limits, 0.95)).toBeLessThanOrEqual(2 * WORKERS)
    }))

  test.each([
    ['of two very different durations', BIMODAL],
    ['of exponential durations', EXPONENTIAL],
  ])('completes at least 90 %% of what the best fixed cap does, with work %s', (_, model) =>
    eachSeed(2, async (random, seed) => {
      const fixed: number[] = []
      for (const limit of [12, 16, 24, 48]) fixed.push((await play(random, { ...model, limit })).sources[0].completed)
      const learned = (await play(random, model)).sources[0].completed
      process.stdout.write(`seed ${seed}: ${learned} completed, ${fixed.join(', ')} with caps of 12, 16, 24, 48\n`)
      expect(share(learned, Math.max(...fixed))).toBeGreaterThan(0.9)
    }),
  )

  test('finds that a service has one worker', () =>
    eachSeed(3, async (random) => {
      const limit = { min: 1, initial: 100 }
      const run = await play(random, { perSecond: 600, workers: 1, serviceMs: () => 5, durationMs: MINUTE, limit })
      expect(quantileOf(run.limits.slice(15), 1)).toBeLessThanOrEqual(3)
      expect(share(completed(run, 15, 60), 45 * 200)).toBeGreaterThan(0.9)
    }))
})
