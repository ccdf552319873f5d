import { expect, test } from '@jest/globals'
import { everyAlgorithm, MIB, scene } from '../../floods/scene.ts'

// regression: a token bucket stored the older reading, and drained the same time twice
test.each(everyAlgorithm)('%s: readings that jump back and forth admit no more than the limit', (algorithm) => {
  const { limiter } = scene([{ algorithm, limit: 100, window: '1m' }], MIB)
  let admitted = 0
  for (let ask = 0; ask < 1_000; ask++) {
    if (limiter.take('key', 1, { now: 100_000 - (ask % 2) * 6_000 }).allowed) admitted++
  }
  expect(admitted).toBe(100)
})

test.each(everyAlgorithm)('%s: a new key is empty before the start of the clock, too', (algorithm) => {
  const { limiter } = scene([{ algorithm, limit: 100, window: '1m' }], MIB)
  expect(limiter.take('key', 100, { now: -1e9 }).allowed).toBe(true)
})
