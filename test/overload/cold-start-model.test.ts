import { expect, test } from '@jest/globals'
import { adaptive } from '@sluice/overload'
import { eachSeed, playModel, quantileOf } from '@sluice/testkit'

const SECONDS = 40

test('a new cap admits within 5 seconds all that a large service can do', () =>
  eachSeed(5, async (random, seed) => {
    const model = { perSecond: 180, workers: 100, serviceMs: () => 500, durationMs: SECONDS * 1_000 }
    const { sources, limits } = await playModel(random, model, adaptive())
    const [{ refused, arrived }] = sources
    process.stdout.write(`seed ${seed}: ${refused} of ${arrived} refused, limits ${limits.slice(0, 10)}\n`)
    expect(limits[4]).toBeGreaterThan(90)
    expect(refused).toBeLessThan(0.1 * arrived)
  }))

test.each([1, 4, 12])(
  'a new cap in front of %s workers that are overloaded passes its limit only for a moment',
  (workers) =>
    eachSeed(5, async (random, seed) => {
      const model = { perSecond: workers * 30, workers, serviceMs: () => 100, durationMs: SECONDS * 1_000 }
      const { sources, limits } = await playModel(random, model, adaptive({ min: 1 }))
      process.stdout.write(
        `seed ${seed}: limits ${limits.slice(0, 10)}, p99 ${quantileOf(sources[0].latencies, 0.99)}\n`,
      )
      expect(Math.max(...limits)).toBeLessThanOrEqual(40)
      expect(Math.max(...limits.slice(10))).toBeLessThanOrEqual(Math.max(12, 2 * workers))
    }),
)

const TIMES = [100, 30, 200, 60]

test('a limit in use does not grow when work becomes slower and faster again', () =>
  eachSeed(5, async (random, seed) => {
    const serviceMs = (atMs: number): number => TIMES[Math.floor(atMs / 20_000) % 4] as number
    const { limits } = await playModel(random, { perSecond: 300, serviceMs, durationMs: 160_000 }, adaptive())
    process.stdout.write(`seed ${seed}: at most ${Math.max(...limits.slice(10))}\n`)
    expect(quantileOf(limits.slice(10), 0.95)).toBeLessThanOrEqual(24)
  }))

test('a process that is slow at first does not start with a limit that is too large', () =>
  eachSeed(5, async (random, seed) => {
    const serviceMs = (atMs: number): number => (atMs < 1_000 ? 240 : 120)
    const { limits } = await playModel(random, { perSecond: 100, serviceMs, durationMs: 30_000 }, adaptive())
    process.stdout.write(`seed ${seed}: limits ${limits.slice(0, 12)}\n`)
    expect(Math.max(...limits.slice(10))).toBeLessThanOrEqual(24)
  }))
