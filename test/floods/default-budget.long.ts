import { describe, expect, test } from '@jest/globals'
import { everyAlgorithm, MIB, scene } from './scene.ts'

const WINDOW_MS = 600_000

describe.each(everyAlgorithm)('%s, with 64 MiB', (algorithm) => {
  // a sliding log with a limit of three has five cells per key
  test('counts a million keys exactly and evicts no key', () => {
    const { limiter, told } = scene([{ algorithm, limit: 3, window: '1d' }], 64 * MIB)
    for (let key = 0; key < 1_000_000; key++) limiter.take(`client-${key}`, key % 4)
    let wrong = 0
    for (let key = 0; key < 1_000_000; key++) {
      if (limiter.peek(`client-${key}`).verdicts[0].remaining !== 3 - (key % 4)) wrong++
    }
    expect({ wrong, ...told }).toEqual({ wrong: 0, evicted: 0, spilled: 0 })
  }, 120_000)

  test.each([1, 100])(
    'denies a hundred attackers throughout 15,000,000 new keys of cost %d',
    (cost) => {
      const { limiter, clock } = scene([{ algorithm, limit: 100, window: WINDOW_MS }], 64 * MIB)
      const alone = scene([{ algorithm, limit: 100, window: WINDOW_MS }], 64 * MIB)
      const got = { flooded: 0, alone: 0 }
      for (let key = 0; key < 100; key++) for (const one of [limiter, alone.limiter]) one.take(`attacker-${key}`, 100)
      for (let flood = 0; flood < 15_000_000; flood++) {
        limiter.take(`flood-${flood}`, cost)
        if (flood % 1_000_000 !== 0) continue
        clock.advance(WINDOW_MS / 20)
        alone.clock.advance(WINDOW_MS / 20)
        for (let key = 0; key < 100; key++) {
          if (limiter.take(`attacker-${key}`).allowed) got.flooded++
          if (alone.limiter.take(`attacker-${key}`).allowed) got.alone++
        }
      }
      expect(got.flooded).toBeLessThanOrEqual(got.alone)
    },
    300_000,
  )
})
