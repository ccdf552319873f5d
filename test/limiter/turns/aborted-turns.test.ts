import { getEventListeners, setMaxListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { createLimiter, waitFor } from '@sluice/limiter-core'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'

const LIMIT = 10

/** A limiter with a key that 1,000 callers waited for, whose waits were all aborted. */
async function aborted() {
  const clock = new FakeClock({ nowMs: 0 })
  const limiter = createLimiter({ policies: [{ limit: LIMIT, window: '1m', retry: 'booked' }], clock })
  limiter.take('a', LIMIT)
  const { signal, abort } = abortable()
  const waiting = Array.from({ length: 1_000 }, () => waitFor(limiter, 'a', { maxWaitMs: '1d', clock, signal }))
  const states = Promise.allSettled(waiting)
  await turn()
  return { clock, limiter, signal, abort, states }
}

function abortable() {
  const controller = new AbortController()
  // 1,000 waits share a signal
  setMaxListeners(0, controller.signal)
  return { signal: controller.signal, abort: () => controller.abort(new Error('gone')) }
}

test('1,000 aborted waits leave no timer and no listener, and take nothing', async () => {
  const { clock, limiter, signal, abort, states } = await aborted()
  expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([1_000, 1])
  abort()
  expect((await states).every(({ status }) => status === 'rejected')).toBe(true)
  expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
  clock.advance(60_000)
  expect(limiter.peek('a', 0).binding.remaining).toBe(LIMIT)
})

test('each turn of an aborted wait is free for another caller from its time on', async () => {
  const { clock, limiter, abort, states } = await aborted()
  abort()
  await states
  const admittedAt: number[] = []
  // a caller that does not wait for a turn of its own
  for (let atMs = 0; atMs < 300_000; atMs += 500) {
    clock.advance(500)
    if (limiter.take('a').allowed) admittedAt.push(clock.now())
  }
  const gaps = admittedAt.slice(1).map((at, index) => at - admittedAt[index])
  expect(admittedAt[0]).toBe(60_000)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(6_500)
})

test('1,000 aborted waits book ten limits, and the key is free two seconds after their last turn', async () => {
  const { clock, limiter, abort, states } = await aborted()
  const { retryAfterMs } = limiter.peek('a')
  expect(retryAfterMs).toBeLessThanOrEqual(60_000 + 10 * 61_100 + 1_000)
  abort()
  await states
  clock.advance(retryAfterMs + 2_001)
  for (let times = 0; times < LIMIT; times++) expect(limiter.take('a').allowed).toBe(true)
})

test('waits that are aborted at random leave the turns of the others as they are', () =>
  eachSeed(5, async (random: SeededRandom) => {
    const clock = new FakeClock({ nowMs: 0 })
    const limiter = createLimiter({ policies: [{ limit: LIMIT, window: '1m', retry: 'booked' }], clock })
    let takes = 0
    const counted: Pick<typeof limiter, 'take'> = {
      take: (...args) => {
        takes++
        return limiter.take(...args)
      },
    }
    const obedient = new Set<Promise<unknown>>()
    let resolved = 0
    for (let index = 0; index < 90; index++) {
      const { signal, abort } = abortable()
      const waiting = waitFor(counted, 'a', { maxWaitMs: '1d', clock, signal })
      if (random.whole(2) === 0) {
        clock.after(random.whole(500_000), abort)
        waiting.catch(() => {})
      } else obedient.add(waiting.then(() => resolved++))
    }
    await turn()
    for (let steps = 0; resolved < obedient.size && steps < 900; steps++) {
      clock.advance(1_000)
      await turn()
    }
    expect(resolved).toBe(obedient.size)
    // a first take of each, and at most one more
    expect(takes).toBeLessThanOrEqual(2 * 90)
    await limiter.close()
  }))
