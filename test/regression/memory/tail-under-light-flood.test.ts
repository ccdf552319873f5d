import { expect, test } from '@jest/globals'
import { type everyAlgorithm, KIB, scene } from '../../floods/scene.ts'

const WINDOW_MS = 2_000

/** Denied newcomers of the last second, while 5,000 come in each; what came before them spent all at the start. */
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

// each displacement and recall moved the end of what is remembered by up to 256 ms, so that it never came
test.each(['fixed-window', 'sliding-window', 'sliding-log'] as const)(
  '%s: newcomers pass again once the windows of a heavy flood are over',
  (algorithm) => {
    expect(deniedAtLast(algorithm)).toBe(0)
  },
)

// besides, a newcomer taken for a heavy key spends on top of what is remembered, and is remembered with the sum
test.each(['token-bucket', 'gcra'] as const)(
  '%s: a full tail does not feed on the newcomers it denies',
  (algorithm) => {
    expect(deniedAtLast(algorithm)).toBe(0)
  },
)
