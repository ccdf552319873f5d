import { expect, test } from '@jest/globals'
import { MIB, scene } from '../../floods/scene.ts'

// regression: the tail still remembered the key, and a reset key is the least used of all, so it was evicted first
test('a reset key is not denied again because of the tail', () => {
  const { limiter, clock } = scene([{ algorithm: 'fixed-window', limit: 10, window: '1h' }], MIB)
  const keys = Array.from({ length: 2_000 }, (_, index) => `user-${index}`)
  for (const key of keys) limiter.take(key, 10)
  clock.advance(300)
  for (let key = 0; key < 20_000; key++) limiter.take(`heavy-${key}`, 10)
  for (const key of keys) limiter.reset(key)
  for (let key = 0; key < 5_000; key++) limiter.take(`light-${key}`)
  const newcomers = Array.from({ length: 2_000 }, (_, index) => `newcomer-${index}`)
  const deniedOf = (list: readonly string[]) => list.filter((key) => !limiter.peek(key).allowed).length
  // about as many new keys are denied by chance
  expect(deniedOf(keys)).toBeLessThanOrEqual(1.5 * deniedOf(newcomers) + 5)
})
