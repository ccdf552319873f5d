import assert from 'node:assert/strict'
import { describe, test } from '@jest/globals'
import { type AdaptiveOptions, adaptive, type LimitAlgorithmName } from '@sluice/overload'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

const ALGORITHMS: readonly (LimitAlgorithmName | 'target')[] = ['throughput', 'gradient', 'vegas', 'aimd', 'target']
const STEPS_MS = [0, 0, 5e-324, 0.001, 1, 100, 1e6, 1e15, 2 ** 53, -1, -1e3, -1e9]

const stepOf = (random: SeededRandom): number =>
  random.whole(3) === 0 ? random.pick(STEPS_MS) : 10 ** (6 * random.next() - 2)

describe.each(ALGORITHMS)('the algorithm %s', (algorithm) => {
  test.each([
    [1, 1],
    [1, 2],
    [2, 9],
    [1, 1_000_000],
  ])('stays an integer from %d to %d, whatever clocks and durations are', (min, max) =>
    eachSeed(20, (random) => {
      const timeout = algorithm === 'aimd' ? '1s' : undefined
      const how: AdaptiveOptions = algorithm === 'target' ? { target: { p95: '1s' } } : { algorithm, timeout }
      const options: AdaptiveOptions = { min, max, ...how, maxKeys: 3 }
      let now = 1e6
      const clock = { now: () => now, wall: () => now, after: () => () => {} }
      const limits = adaptive(options).open(clock, random.pick([undefined, 1, 1e4]))
      const running: ReturnType<typeof limits.begin>[] = []
      for (let step = 0; step < 3_000; step++) {
        if (random.whole(4) === 0) now += stepOf(random)
        const key = random.pick(['a', 'b', '__proto__', 'c'])
        if (random.whole(2) === 0)
          running.push(
            limits.begin(key, { weight: 1 + random.whole(3), workClass: random.pick(['a', 'b', undefined]) }),
          )
        const [end] = running.splice(random.whole(running.length + 1), 1)
        end?.(random.whole(10) === 0 ? 'dropped' : 'success')
        const limit = limits.limitOf(key)
        assert.ok(Number.isInteger(limit) && limit >= min && limit <= max, `limit ${limit}`)
      }
    }),
  )
})
