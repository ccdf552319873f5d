import { expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { KIB } from '../../floods/scene.ts'

// regression: the table reported an eviction in the middle of its work, and the observer's take moved keys meanwhile
test('every key keeps its own count even if an observer takes and peeks in each event', () => {
  const clock = new FakeClock()
  const backend = memoryBackend({ clock, maxBytes: 64 * KIB })
  const policy = { algorithm: 'fixed-window', limit: 100, window: '30d' } as const
  let events = 0
  const limiter = createLimiter({
    policies: [policy],
    backend,
    clock,
    observers: [
      { event: () => void (++events % 2 === 1 && [...Array(3)].map((_, n) => limiter.take(`own-${events}-${n}`, 2))) },
    ],
  })
  let wrong = 0
  for (let key = 0; key < 10_000; key++) {
    clock.advance(1_000)
    limiter.take(`key-${key}`, 7)
    if (limiter.peek(`key-${key}`).verdicts[0].remaining !== 93) wrong++
  }
  expect(events).toBeGreaterThan(1_000)
  expect(wrong).toBe(0)
})

test('a late charge returns the state of its own key even if an observer takes another key during the event', () => {
  const clock = new FakeClock()
  const limiter = createLimiter({
    policies: [{ algorithm: 'fixed-window', limit: 100, window: '1m' }],
    backend: memoryBackend({ clock }),
    clock,
    observers: [{ event: (name) => void (name === 'lateCharge' && limiter.take('other', 40)) }],
  })
  clock.advance(200_000)
  limiter.take('late', 5)
  expect(limiter.charge('late', 3, 10).verdicts[0].remaining).toBe(95)
  expect(limiter.peek('other').verdicts[0].remaining).toBe(60)
})
