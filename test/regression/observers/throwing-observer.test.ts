import { expect, test } from '@jest/globals'
import { KIB, scene } from '../../floods/scene.ts'

// regression: only observers of limiters were guarded; an observer of the backend itself aborted the take halfway
test('a take during an eviction succeeds even if an observer of the backend throws', () => {
  const { backend, limiter, clock } = scene([{ limit: 10, window: '1h' }], 64 * KIB)
  backend.observe?.({
    event() {
      throw new Error('observer')
    },
  })
  for (let key = 0; key < 3_000; key++) {
    clock.advance(1)
    expect(limiter.take(`key-${key}`).allowed).toBe(true)
  }
})
