import { expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock } from '@sluice/testkit'

const MINUTE = 60_000
type Input = Omit<PolicyInput, 'backend'>

function algorithmOf(input: Input): string {
  const limiter = createLimiter({ policies: [input] })
  const [{ algorithm }] = limiter.policies
  limiter.close()
  return algorithm
}

test('is a log up to 32 units, a weighted window above, and a sliced window if slices are set', () => {
  const limits = [1, 5, 32, 33, 100, 1e9]
  const log = 'sliding-log'
  const window = 'sliding-window'
  expect(limits.map((limit) => algorithmOf({ limit, window: '1m' }))).toEqual([log, log, log, window, window, window])
  expect(algorithmOf({ limit: 5, window: '1m', slices: 6 })).toBe(window)
  expect(algorithmOf({ limit: 5, window: '1m', algorithm: 'gcra' })).toBe('gcra')
})

test('of plans that share a name is the one for their largest limit', () => {
  const plans = (...limits: number[]) =>
    Object.fromEntries(limits.map((limit) => [`up to ${limit}`, [{ name: 'calls', limit, window: '1m' as const }]]))
  const algorithms = (...limits: number[]): string[] => {
    const guard = new RateGate({ plans: plans(...limits), plan: () => undefined })
    const found = limits.map((limit) => guard.limiter(`up to ${limit}`).policies[0].algorithm)
    guard.close()
    return found
  }
  expect(algorithms(5, 32)).toEqual(['sliding-log', 'sliding-log'])
  expect(algorithms(5, 33)).toEqual(['sliding-window', 'sliding-window'])
})

test.each([
  ['slots', {}],
  ['a history', { history: { unit: '1s', keep: '1h' } as const }],
])('is one that the backend supports: a sketch of %s has no log', (_name, options) => {
  const limiter = createLimiter({ policies: [{ limit: 5, window: '1m' }], backend: sketchBackend(options) })
  expect(limiter.policies[0].algorithm).toBe('sliding-window')
  limiter.close()
})

test('gives a client that obeys Retry-After its full small limit, never more in a window, and no longer wait', () =>
  eachSeed(20, (random) => {
    for (const limit of [1, 2, 3, 5, 10, 32]) {
      const clock = new FakeClock({ nowMs: 1_000 })
      const limiter = createLimiter({ policies: [{ limit, window: '1m' }], clock })
      const times: number[] = []
      const started = clock.now()
      while (clock.now() < started + 30 * MINUTE) {
        const { allowed, retryAfterMs } = limiter.take('obedient')
        if (allowed) {
          times.push(clock.now())
          if (random.whole(3) === 0) clock.advance(random.whole(Math.ceil(MINUTE / limit / 4)))
          continue
        }
        expect(retryAfterMs).toBeLessThanOrEqual(MINUTE)
        clock.advance(Math.ceil(retryAfterMs / 1_000) * 1_000)
      }
      for (let unit = limit; unit < times.length; unit++) {
        expect(times[unit] - times[unit - limit]).toBeGreaterThanOrEqual(MINUTE)
      }
      expect(times.length / 30 / limit).toBeGreaterThan(0.97)
      limiter.close()
    }
  }))

test.each([
  [{ limit: 10n, window: '1m' }, 'SLUICE_BAD_LIMIT'],
  [{ window: '1m' }, 'SLUICE_BAD_LIMIT'],
  [null, 'SLUICE_BAD_OPTION'],
  [undefined, 'SLUICE_BAD_OPTION'],
])('ignores an invalid policy %p', (policy, code) => {
  expect(() => createLimiter({ policies: [policy as never] })).toThrow(expect.objectContaining({ code }))
})
