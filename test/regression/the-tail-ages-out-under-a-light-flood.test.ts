import { expect, test } from '@jest/globals'
import { everyAlgorithm, KIB, scene } from '../floods/scene.ts'

// each displacement and recall moved the end of what is remembered by up to 256 ms, so that it never came
test.each(everyAlgorithm)('%s: newcomers pass again once the windows of a heavy flood are over', (algorithm) => {
  const { limiter, clock } = scene([{ algorithm, limit: 100, window: '2s' }], 64 * KIB)
  let keys = 0
  for (; keys < 6_000; keys++) limiter.take(`heavy-${keys}`, 100)
  let denied = 0
  // 5,000 new keys a second, one unit each: the table four times over
  while (clock.now() < 6_000) {
    clock.advance(10)
    for (let key = 0; key < 50; key++) {
      if (!limiter.take(`light-${keys++}`).allowed && clock.now() > 5_000) denied++
    }
  }
  expect(denied).toBe(0)
})
