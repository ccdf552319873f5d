import { describe, expect, test } from '@jest/globals'
import { everyAlgorithm, KIB, type Scene, scene } from '../scene.ts'

const WINDOW_MS = 60_000
const LIMIT = 10
// an expiry tick is 128 ms, and remembered counts expire at the end of a tick
const TOLERANCE_MS = 256

/** A hundred denied keys, evicted by other keys that are denied a little later. */
function displaced(algorithm: (typeof everyAlgorithm)[number]): Scene & { readonly keys: readonly string[] } {
  const made = scene([{ algorithm, limit: LIMIT, window: WINDOW_MS }], 64 * KIB)
  const keys = Array.from({ length: 100 }, (_, index) => `denied-${index}`)
  for (const key of keys) made.limiter.take(key, LIMIT)
  made.clock.advance(1_000)
  for (let key = 0; key < 10_000; key++) made.limiter.take(`flood-${key}`, LIMIT)
  made.clock.advance(1_000)
  return { ...made, keys }
}

describe.each(everyAlgorithm)('%s: a denied key restored from the tail', (algorithm) => {
  test('is admitted at its retryAfterMs, and not a millisecond earlier', () => {
    const { limiter, clock, keys } = displaced(algorithm)
    for (const key of keys) {
      const { allowed, retryAfterMs } = limiter.take(key)
      expect(allowed).toBe(false)
      expect(limiter.peek(key, 1, { now: clock.now() + retryAfterMs - 1 }).allowed).toBe(false)
      expect(limiter.peek(key, 1, { now: clock.now() + retryAfterMs }).allowed).toBe(true)
    }
  })

  test('is asked to wait no longer than the flood itself', () => {
    const { limiter, keys } = displaced(algorithm)
    const newcomer = limiter.take('newcomer', LIMIT)
    const longest = newcomer.allowed ? limiter.take('newcomer').retryAfterMs : newcomer.retryAfterMs
    for (const key of keys) {
      expect(limiter.take(key).retryAfterMs).toBeLessThanOrEqual(Math.max(longest, WINDOW_MS) + TOLERANCE_MS)
    }
  })
})
