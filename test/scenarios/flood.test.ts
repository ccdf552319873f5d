import { describe, expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/express'
import { FakeClock, seededRandom } from '@sluice/testkit'

/** Number of other keys, enough to fill the smallest table many times. */
const FLOOD = 100_000

describe('a denied client floods other keys', () => {
  test.each(['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] as const)(
    'and stays denied, although the table has room for only a hundredth of them (%s)',
    (algorithm) => {
      const clock = new FakeClock()
      const backend = memoryBackend({ maxBytes: 64 * 1024, clock })
      const evictions: number[] = []
      backend.observe?.({ event: (name, data) => name === 'evicted' && evictions.push(data.keys as number) })
      const limiter = createLimiter({ policies: [{ limit: 100, window: '1h', algorithm }], backend, clock })
      const random = seededRandom(7)
      for (let taken = 0; taken < 100; taken++) expect(limiter.take('attacker').allowed).toBe(true)
      for (let flooded = 0; flooded < FLOOD; flooded++) {
        limiter.take(`2001:db8:${random.whole(65_536).toString(16)}:${flooded.toString(16)}::/56`)
        if (flooded % 10_000 === 0) expect(limiter.take('attacker').allowed).toBe(false)
      }
      expect(limiter.take('attacker').allowed).toBe(false)
      expect(evictions.length).toBeGreaterThan(0)
    },
  )

  test('and a new client during the flood is admitted', () => {
    const clock = new FakeClock()
    const backend = memoryBackend({ maxBytes: 64 * 1024, clock })
    const limiter = createLimiter({ policies: [{ limit: 100, window: '1h' }], backend, clock })
    let denied = 0
    for (let flooded = 0; flooded < FLOOD; flooded++) if (!limiter.take(`client ${flooded}`).allowed) denied++
    expect(denied).toBe(0)
  })
})
