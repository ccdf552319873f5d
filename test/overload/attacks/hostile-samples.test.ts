import assert from 'node:assert/strict'
import { describe, test } from '@jest/globals'
import { type AdaptiveOptions, adaptive, type LimitAlgorithmName } from '@sluice/overload'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

const ALGORITHMS: readonly LimitAlgorithmName[] = ['throughput', 'gradient', 'vegas', 'aimd']
const ODD = [0, -0, -1, -1e300, 5e-324, 1e-9, 0.5, 1e9, 2 ** 53, 1e308, Infinity, -Infinity, Number.NaN]
const STEPS_MS = [0, 0, 0.001, 1, 100, 1e6, 1e15, -1, -1e3, -1e9]

const number = (random: SeededRandom): number =>
  random.whole(3) === 0 ? random.pick(ODD) : 10 ** (6 * random.next() - 2)

describe.each(ALGORITHMS)('the algorithm %s', (algorithm) => {
  test.each([
    [1, 1],
    [1, 2],
    [2, 9],
    [1, 1_000_000],
  ])('stays an integer from %d to %d, whatever clocks and durations are', (min, max) =>
    eachSeed(20, (random) => {
      const timeout = algorithm === 'aimd' ? '1s' : undefined
      const options: AdaptiveOptions = { min, max, algorithm, timeout, maxKeys: 3 }
      let now = 1e6
      const clock = { now: () => now, wall: () => now, after: () => () => {} }
      const limits = adaptive(options).open(clock)
      for (let sample = 0; sample < 3_000; sample++) {
        if (random.whole(4) === 0) now += random.pick(STEPS_MS)
        const key = random.pick(['a', 'b', '__proto__', 'c'])
        const inflight = random.whole(8) === 0 ? number(random) : 1 + random.whole(limits.limitOf(key))
        const outcome = random.whole(10) === 0 ? 'dropped' : 'success'
        limits.sample(key, { heldMs: number(random), inflight, outcome })
        const limit = limits.limitOf(key)
        assert.ok(Number.isInteger(limit) && limit >= min && limit <= max, `limit ${limit}`)
      }
    }),
  )
})
