import { describe, expect, test } from '@jest/globals'
import { createLimiter, type SyncLimiterOptions } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'

const SECOND = 1_000
const BLOCKS_PER_LEVEL = 4
const shapes = [
  { name: 'second', limit: 3, windowMs: SECOND },
  { name: 'minute', limit: 20, windowMs: 60 * SECOND },
  { name: 'hour', limit: 100, windowMs: 3_600 * SECOND },
  { name: 'day', limit: 400, windowMs: 86_400 * SECOND },
] as const

/** Every take of a key with its time. Takes are never removed. */
class ExactLog {
  readonly #taken = new Map<string, { readonly at: number; readonly units: number }[]>()

  add(key: string, at: number, units: number): void {
    this.#taken.set(key, [...(this.#taken.get(key) ?? []).slice(-1_000), { at, units }])
  }

  /** Returns the units taken in the last `ms`. */
  within(key: string, ms: number, now: number): number {
    const mine = this.#taken.get(key) ?? []
    return mine.reduce((sum, { at, units }) => (at > now - ms ? sum + units : sum), 0)
  }
}

function stepMs(random: SeededRandom): number {
  return random.pick([
    () => random.whole(300),
    () => random.whole(300),
    () => 3_000 * random.next(),
    () => random.whole(60_000),
    () => (random.whole(8) === 0 ? random.whole(20 * 3_600_000) : random.whole(600_000)),
  ])?.() as number
}

/**
 * A backend with units of a second and one day of history, with policies of four windows on each request, compared with
 * the exact log.
 */
function walk(random: SeededRandom, slices: number, steps: number): { allowed: number; denied: number } {
  const clock = new FakeClock({ nowMs: 1_234.5 })
  const history = { unit: '1s', keep: '1d', blocksPerLevel: BLOCKS_PER_LEVEL } as const
  const backend = sketchBackend({ bytes: 16 * 2 ** 20, history, clock, seed: 'sixteen secret bytes' })
  const policies: SyncLimiterOptions['policies'] = shapes.map(({ name, limit, windowMs }) => ({
    name,
    limit,
    window: windowMs,
    slices,
  }))
  const limiter = createLimiter({ policies, backend, clock })
  const log = new ExactLog()
  const seen = { allowed: 0, denied: 0 }
  for (let step = 0; step < steps; step++) {
    clock.advance(stepMs(random))
    const key = `key ${random.whole(3)}`
    const units = 1 + random.whole(2)
    const { allowed, verdicts } = limiter.take(key, units)
    seen[allowed ? 'allowed' : 'denied']++
    for (const [index, { name, limit, windowMs }] of shapes.entries()) {
      const used = (ms: number): number => log.within(key, ms, clock.now())
      const most = slices === 1 ? 2 * limit - 1 : limit
      if (allowed) expect({ step, name, tooMany: used(windowMs) + units > most }).toMatchObject({ tooMany: false })
      if (verdicts[index].allowed) continue
      // a unit that counts completely began at most half a window and a unit earlier
      const reachMs = windowMs * (1 + 2 / BLOCKS_PER_LEVEL) + SECOND
      expect({ step, name, wronged: used(reachMs) + units <= limit }).toMatchObject({ wronged: false })
    }
    if (allowed) log.add(key, clock.now(), units)
  }
  return seen
}

describe('a history with a policy per second, minute, hour and day on each request', () => {
  test.each([
    ['whole blocks: at most one limit', 2],
    ['weighted blocks: less than two limits', 1],
  ])('admit %s in any window, and takes older than one and a half windows do not cause denials', (_name, slices) =>
    eachSeed(2, (random) => {
      const { allowed, denied } = walk(random, slices, 2_500)
      expect(Math.min(allowed, denied)).toBeGreaterThan(100)
    }),
  )
})
