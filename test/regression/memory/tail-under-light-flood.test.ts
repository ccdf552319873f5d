import { expect, test } from '@jest/globals'
import { type everyAlgorithm, KIB, scene } from '../../floods/scene.ts'

const WINDOW_MS = 2_000

/** Denied new keys in the last second, while 5,000 arrive in each. Earlier keys spent everything at the start. */
function deniedAtLast(algorithm: (typeof everyAlgorithm)[number]): number {
  const { limiter, clock } = scene([{ algorithm, limit: 100, window: WINDOW_MS }], 64 * KIB)
  let keys = 0
  for (; keys < 6_000; keys++) limiter.take(`heavy-${keys}`, 100)
  let denied = 0
  while (clock.now() < 3 * WINDOW_MS) {
    clock.advance(10)
    for (let key = 0; key < 50; key++) {
      if (!limiter.take(`light-${keys++}`).allowed && clock.now() > 3 * WINDOW_MS - 1_000) denied++
    }
  }
  return denied
}

// regression: each eviction and recall moved the end of a remembered key by up to 256 ms, so that it never came
test.each(['fixed-window', 'sliding-window', 'sliding-log'] as const)(
  '%s: new keys pass again once the windows of a heavy flood are over',
  (algorithm) => {
    expect(deniedAtLast(algorithm)).toBe(0)
  },
)

// regression: a new key mistaken for a heavy one spends on top of the remembered usage, and was remembered with the sum
test.each(['token-bucket', 'gcra'] as const)(
  '%s: a full tail does not grow with the new keys that it denies',
  (algorithm) => {
    expect(deniedAtLast(algorithm)).toBe(0)
  },
)
