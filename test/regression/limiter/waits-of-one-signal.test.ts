import { getEventListeners } from 'node:events'
import { expect, test } from '@jest/globals'
import { createLimiter, waitFor } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'

/** Warnings that Node.js prints while `run` is running. */
async function warnings(run: () => Promise<void>): Promise<string[]> {
  const seen: string[] = []
  const see = (warning: Error) => void seen.push(warning.name)
  process.on('warning', see)
  await run()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  process.off('warning', see)
  return seen
}

test('waits that share one signal print no warning, and an abort rejects all of them', async () => {
  const seen = await warnings(async () => {
    const clock = new FakeClock()
    const limiter = createLimiter({ limit: 1, window: '1m', algorithm: 'fixed-window', clock })
    await limiter.take('key')
    const leaving = new AbortController()
    const { signal } = leaving
    const waits = Array.from({ length: 30 }, () => waitFor(limiter, 'key', { maxWaitMs: '1h', signal, clock }))
    for (let i = 0; i < 10; i++) await Promise.resolve()
    leaving.abort(new Error('left'))
    const results = await Promise.allSettled(waits)
    expect(new Set(results.map((result) => result.status === 'rejected' && result.reason.message))).toEqual(
      new Set(['left']),
    )
  })
  expect(seen).toEqual([])
})

test('no listener stays at a signal after the waits, in any order of ends', () =>
  eachSeed(20, async (random) => {
    const clock = new FakeClock()
    const limiter = createLimiter({ limit: 4, window: '1m', algorithm: 'fixed-window', clock })
    const signals = Array.from({ length: 3 }, () => new AbortController())
    const waits = Array.from({ length: 20 }, () =>
      waitFor(limiter, random.pick(['a', 'b']), { maxWaitMs: '1h', signal: random.pick(signals).signal, clock }),
    )
    for (let step = 0; step < 40; step++) {
      clock.advance(random.whole(30_000))
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      if (random.whole(8) === 0) random.pick(signals).abort()
    }
    await Promise.allSettled(waits)
    expect(signals.flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([])
  }))
