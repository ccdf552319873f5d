import { expect, test } from '@jest/globals'
import { KIB, scene } from '../floods/scene.ts'

// peek wrote the used fraction and the end as they would be then, and the key was up for eviction
test('a denied key stays denied through a flood though someone peeked at its future', () => {
  const { limiter } = scene([{ algorithm: 'fixed-window', limit: 10, window: '1h' }], 64 * KIB)
  limiter.take('attacker', 10)
  limiter.peek('attacker', 1, { now: 2 * 3_600_000 })
  for (let key = 0; key < 5_000; key++) limiter.take(`flood-${key}`)
  expect(limiter.take('attacker').allowed).toBe(false)
})
