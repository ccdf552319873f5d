import { expect, test } from '@jest/globals'
import { MIB, scene } from '../../floods/scene.ts'

// regression: usage was rounded up on its way into the tail and again on its way out: 61 came back as 62
test('keys with 61 of 100 used are restored after their eviction, except those mistaken for a key of the flood', () => {
  const { limiter } = scene([{ algorithm: 'fixed-window', limit: 100, window: '1h' }], MIB)
  for (let key = 0; key < 500; key++) limiter.take(`honest-${key}`, 61)
  for (let key = 0; key < 22_000; key++) limiter.take(`flood-${key}`, 100)
  const used = new Set<number>()
  for (let key = 0; key < 500; key++) used.add(100 - limiter.peek(`honest-${key}`).verdicts[0].remaining)
  used.delete(100)
  expect([...used]).toEqual([61])
})
