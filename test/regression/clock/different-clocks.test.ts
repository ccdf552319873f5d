import { expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { KIB } from '../../floods/scene.ts'

// regression: readings 8.7 years away from the backend's clock shared one tick, so nothing expired and evicted keys
// were lost
test('a denied key stays denied through a flood if the limiter reads epoch time and the backend does not', () => {
  const clock = new FakeClock({ nowMs: Date.UTC(2026, 0, 1) })
  const backend = memoryBackend({ maxBytes: 64 * KIB })
  const limiter = createLimiter({
    policies: [{ algorithm: 'fixed-window', limit: 10, window: '1h' }],
    backend,
    clock,
  })
  const keys = Array.from({ length: 100 }, (_, index) => `attacker-${index}`)
  for (const key of keys) limiter.take(key, 10)
  clock.advance(1_000)
  for (let key = 0; key < 5_000; key++) limiter.take(`flood-${key}`, 10)
  expect(keys.filter((key) => limiter.take(key).allowed)).toEqual([])
})
