import { expect, test } from '@jest/globals'
import { everyAlgorithm, KIB, scene } from '../../floods/scene.ts'

const KEYS = 2_000

// the tail took the end of the queue for the end of the usage: with gcra, keys were denied for ten windows
test.each(everyAlgorithm)(
  '%s: evicted keys are denied until their usage ends, not until their queue ends',
  (algorithm) => {
    const { clock, limiter, told } = scene([{ algorithm, limit: 10, window: '1m', retry: 'booked' }], 64 * KIB)
    const deniedKeys = (): number => {
      let denied = 0
      for (let key = 0; key < KEYS; key++) if (!limiter.peek(`client-${key}`).allowed) denied++
      return denied
    }
    for (let key = 0; key < KEYS; key++) for (let times = 0; times < 60; times++) limiter.take(`client-${key}`)
    clock.advance(1_000)
    limiter.take('last')
    expect(told.evicted).toBeGreaterThan(KEYS / 4)
    // every usage is heavy, so the tail remembers it
    expect(deniedKeys()).toBe(KEYS)
    clock.advance(64_000)
    expect(deniedKeys()).toBe(0)
  },
)
