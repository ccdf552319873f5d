import { describe, expect, test } from '@jest/globals'
import { type Clock, createLimiter } from '@sluice/limiter-core'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'

const policies = [{ limit: 3, window: '1m' }] as const
const shapes: readonly (readonly [string, SketchBackendOptions])[] = [
  ['slots', {}],
  ['a history', { history: { unit: '1s', keep: '1h' } }],
]

// regression: a reset used the backend's own clock, 30 years away from the limiter's, and all counts had left their
// window
describe.each(shapes)('a reset by a limiter with another clock than its backend, %s', (_name, options) => {
  test.each([0, 1_000, 1e12])('clears its key and no other, at %d ms', (nowMs) => {
    const clock = new FakeClock({ nowMs })
    const limiter = createLimiter({ policies, backend: sketchBackend(options), clock })
    for (const key of ['a', 'b']) limiter.take(key, 3)
    limiter.reset('a')
    expect(['a', 'b'].map((key) => limiter.take(key, 3).allowed)).toEqual([true, false])
  })
})

// regression: `'5' <= 2 ** 53` is true, so slots answered NaN and a history threw
test.each(shapes)('a clock that returns strings counts as invalid, %s', (_name, options) => {
  let reading: unknown = 1_000
  const clock = { now: () => reading, wall: () => 0, after: () => () => {} } as unknown as Clock
  const limiter = createLimiter({ policies, backend: sketchBackend({ ...options, clock }) })
  const take = () => {
    const { allowed, binding, takenAt } = limiter.take('a')
    return [allowed, binding.remaining, takenAt]
  }
  expect(take()).toEqual([true, 2, 1_000])
  for (const odd of ['5', '', null, undefined, {}, true]) {
    reading = odd
    expect(limiter.peek('a').binding.remaining).toBe(2)
  }
  expect([take(), take(), take()]).toEqual([
    [true, 1, 1_000],
    [true, 0, 1_000],
    [false, 0, 1_000],
  ])
})
