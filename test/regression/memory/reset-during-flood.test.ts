import { expect, test } from '@jest/globals'
import { MIB, scene } from '../../floods/scene.ts'

// the tail still remembered the key, and a key reset is the least used of all: the first to be evicted
test('a key that was reset is not denied again by what the tail knew of it', () => {
  const { limiter, clock } = scene([{ algorithm: 'fixed-window', limit: 10, window: '1h' }], MIB)
  const keys = Array.from({ length: 2_000 }, (_, index) => `user-${index}`)
  for (const key of keys) limiter.take(key, 10)
  clock.advance(300)
  for (let key = 0; key < 20_000; key++) limiter.take(`heavy-${key}`, 10)
  for (const key of keys) limiter.reset(key)
  for (let key = 0; key < 5_000; key++) limiter.take(`light-${key}`)
  const newcomers = Array.from({ length: 2_000 }, (_, index) => `newcomer-${index}`)
  const deniedOf = (list: readonly string[]) => list.filter((key) => !limiter.peek(key).allowed).length
  // chance takes as many newcomers for denied ones
  expect(deniedOf(keys)).toBeLessThanOrEqual(1.5 * deniedOf(newcomers) + 5)
})
