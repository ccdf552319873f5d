import { expect, test } from '@jest/globals'
import { adaptive, type LatencyTarget } from '@sluice/overload'
import { eachSeed, type OverloadModel, playModel, quantileOf, type SeededRandom } from '@sluice/testkit'

const SECONDS = 60
const DURATION = { durationMs: SECONDS * 1_000 }
const MODELS: readonly (OverloadModel & { readonly name: string; readonly possible: number })[] = [
  { name: 'of one duration', perSecond: 300, serviceMs: () => 100, possible: 120, ...DURATION },
  { name: 'of a large service', perSecond: 300, workers: 100, serviceMs: () => 100, possible: 300, ...DURATION },
  {
    name: 'of varying durations',
    perSecond: 300,
    serviceMs: (_at, random) => 50 + 100 * random.next(),
    possible: 120,
    ...DURATION,
  },
  {
    name: 'that drifts',
    perSecond: 300,
    serviceMs: (at) => 60 + (60 * at) / DURATION.durationMs,
    possible: 129,
    ...DURATION,
  },
]

/** Latencies of the second half of a run, and completed requests per second. */
async function play(random: SeededRandom, model: OverloadModel, target: LatencyTarget) {
  const { sources, limits, completedPerSecond } = await playModel(random, model, adaptive({ target, max: 1_000 }))
  const [{ latencies, refused, arrived }] = sources
  const perSecond = completedPerSecond.slice(10).reduce((sum, one) => sum + one, 0) / (SECONDS - 10)
  return { latencies: latencies.slice(latencies.length >> 1), limits, perSecond, refused, arrived }
}

test.each(MODELS)('work $name keeps its objective, and as much of it is completed as possible', (model) =>
  eachSeed(3, async (random, seed) => {
    const { latencies, limits, perSecond } = await play(random, model, { p95: '250ms' })
    const p95 = quantileOf(latencies, 0.95)
    process.stdout.write(
      `seed ${seed}: p95 ${p95.toFixed(0)} ms, ${perSecond.toFixed(0)} per second, limit ${limits.at(-1)}\n`,
    )
    expect(p95).toBeLessThanOrEqual(250 * 1.05)
    expect(perSecond).toBeGreaterThan(0.95 * model.possible)
  }),
)

test('an objective that the service cannot keep does not close the service', () =>
  eachSeed(3, async (random, seed) => {
    const model = { perSecond: 100, serviceMs: () => 100, ...DURATION }
    const { limits, perSecond } = await play(random, model, { p95: '50ms' })
    process.stdout.write(`seed ${seed}: ${perSecond.toFixed(0)} per second, limits ${limits.slice(-20)}\n`)
    expect(perSecond).toBeGreaterThan(70)
  }))

test('a cap that is not full keeps its limit', () =>
  eachSeed(3, async (random) => {
    const { refused, limits } = await play(random, { perSecond: 20, serviceMs: () => 100, ...DURATION }, { p99: '1s' })
    expect([refused, limits.at(-1)]).toEqual([0, 20])
  }))
