import { afterEach, describe, expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type Limiter } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { closeBenches, FlakyBackend, failoverBench, serverError } from './flaky-backend.ts'

afterEach(closeBenches)

const algorithms: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra']

/** Processes that count on one backend. Each has its own clock, and so its own breaker. */
function fleet(size: number, share: number, policy: { algorithm: AlgorithmName; limit: number; burst?: number }) {
  // the listener for warnings
  failoverBench()
  const serverClock = new FakeClock({ nowMs: 5_000_000 })
  const backend = new FlakyBackend(serverClock)
  const clocks = Array.from({ length: size }, () => new FakeClock({ nowMs: 1_000 }))
  const limiters = clocks.map((clock) =>
    createLimiter({
      policies: [{ window: '1m', ...policy }],
      backend,
      shared: true,
      clock,
      onBackendError: { local: { share } },
    }),
  )
  const advance = (ms: number): void => {
    for (const clock of [serverClock, ...clocks]) clock.advance(ms)
  }
  return { backend, limiters, advance }
}

async function admitted(limiters: readonly Limiter[], key = 'key'): Promise<number> {
  let sum = 0
  for (const limiter of limiters) {
    for (let asked = 0; asked < 150; asked++) if ((await limiter.take(key)).allowed) sum++
  }
  return sum
}

describe.each(algorithms)('shares of a limit with %s', (algorithm) => {
  test.each([
    [1, 4, 400],
    [1 / 4, 4, 100],
    [1 / 3, 3, 99],
    [0.1, 10, 100],
    [0.29, 3, 87],
    [0.001, 5, 5],
  ])('of %d each in %d processes admit %d of 100 together', async (share, size, expected) => {
    const { backend, limiters } = fleet(size, share, { algorithm, limit: 100 })
    backend.condition = serverError('CONNECTION')
    const sum = await admitted(limiters)
    // entries of a log are whole units, so a share that does not divide the limit is rounded down
    if (algorithm === 'sliding-log') expect(sum).toBeLessThanOrEqual(expected)
    else expect(sum).toBe(expected)
    expect(sum).toBeGreaterThanOrEqual(size)
  })

  test('report the remaining units of this process for a key that the backend had counted', async () => {
    const { backend, limiters } = fleet(4, 1 / 4, { algorithm, limit: 100 })
    await limiters[0].take('key', 60)
    backend.condition = serverError('CONNECTION')
    const decision = await limiters[0].take('key')
    expect([decision.allowed, decision.binding.remaining]).toEqual([true, 9])
  })

  test('are reported to the backend as usage of the fleet, so that it does not admit a second limit', async () => {
    const { backend, limiters, advance } = fleet(4, 1 / 4, { algorithm, limit: 100 })
    for (const limiter of limiters) await limiter.take('other')
    backend.condition = serverError('CONNECTION')
    expect(await admitted(limiters)).toBe(100)
    backend.condition = 'well'
    advance(1_000)
    for (const limiter of limiters) for (let asked = 0; asked < 5; asked++) await limiter.take('other')
    const refilled = ['token-bucket', 'gcra'].includes(algorithm) ? 2 : 0
    expect(await admitted(limiters)).toBeLessThanOrEqual(refilled)
  })

  test('admit exactly the remaining units that they report', () =>
    eachSeed(20, async (random) => {
      const limit = 1 + random.whole(120)
      const { backend, limiters, advance } = fleet(1, (1 + random.whole(100)) / 100, { algorithm, limit })
      const [limiter] = limiters
      backend.condition = serverError('CONNECTION')
      for (let round = 0; round < 15; round++) {
        const { binding } = await limiter.take('key', random.whole(4))
        const fits = await limiter.peek('key', binding.remaining)
        const over = await limiter.peek('key', binding.remaining + 1)
        expect([limit, fits.allowed, over.allowed]).toEqual([limit, true, false])
        advance(random.pick([0, 1, 700, 20_000]))
      }
    }))

  test('admit a denied take exactly when its retry time has passed', () =>
    eachSeed(20, async (random) => {
      const { backend, limiters, advance } = fleet(1, 0.3, { algorithm, limit: 20 + random.whole(60) })
      const [limiter] = limiters
      backend.condition = serverError('CONNECTION')
      for (let round = 0; round < 20; round++) {
        const cost = 1 + random.whole(4)
        const { allowed, retryAfterMs } = await limiter.take('key', cost)
        if (!allowed) {
          advance(retryAfterMs - 1)
          expect((await limiter.peek('key', cost)).allowed).toBe(false)
          advance(1)
          expect((await limiter.peek('key', cost)).allowed).toBe(true)
        }
        advance(random.pick([0, 10, 500]))
      }
    }))
})

describe('a share', () => {
  test.each<[AlgorithmName, number]>([
    ['gcra', 1],
    ['token-bucket', 1],
    ['token-bucket', 3],
  ])('with %s and a burst of %d is a share of the rate, and at least one unit at once', async (algorithm, burst) => {
    const { backend, limiters, advance } = fleet(2, 0.5, { algorithm, limit: 60, burst })
    backend.condition = serverError('CONNECTION')
    let sum = 0
    for (let second = 0; second < 60; second++) {
      for (const limiter of limiters) if ((await limiter.take('key')).allowed) sum++
      advance(1_000)
    }
    expect(sum).toBeGreaterThanOrEqual(58)
    expect(sum).toBeLessThanOrEqual(60 + 2)
  })

  test('that a cost never fits into reports a retry time, if the cost fits into the whole limit', async () => {
    const { backend, limiters } = fleet(1, 0.1, { algorithm: 'fixed-window', limit: 100 })
    backend.condition = serverError('CONNECTION')
    expect(await limiters[0].take('key', 50)).toMatchObject({ allowed: false, retryAfterMs: 1_000 })
    expect(await limiters[0].take('key', 101)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
  })

  test('is refunded in units of the share', async () => {
    const { backend, limiters } = fleet(1, 0.1, { algorithm: 'fixed-window', limit: 100 })
    backend.condition = serverError('CONNECTION')
    const taken = await limiters[0].take('key', 10)
    await limiters[0].charge('key', -4, taken)
    expect(await admitted(limiters)).toBe(4)
  })
})
