import { afterEach, describe, expect, test } from '@jest/globals'
import type { AlgorithmName, Limiter } from '@sluice/limiter-core'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import {
  closeBenches,
  closeBreaker,
  type FailoverBench,
  failoverBench,
  openBreaker,
  serverError,
  settled,
} from './flaky-backend.ts'

afterEach(closeBenches)

/** For each algorithm, the maximum number of units in any window that it guarantees, in multiples of the limit. */
const promises: readonly [AlgorithmName, number, number?][] = [
  ['fixed-window', 2],
  ['sliding-window', 2],
  ['sliding-window', 1, 6],
  ['sliding-log', 1],
  ['token-bucket', 2],
  ['gcra', 2],
]

function policyOf(algorithm: AlgorithmName, slices: number | undefined) {
  return { limit: 6, window: '1m', algorithm, ...(slices !== undefined && { slices }) } as const
}

/**
 * Usage that was sent along with each charge since the last call: the last answer of the backend plus what was admitted
 * locally.
 */
function sentUsage({ flaky }: FailoverBench): (number | undefined)[] {
  return flaky.heard.splice(0).flatMap(({ charges }) =>
    charges.map(({ known }) => {
      const { uncounted, unsure } = known?.admitted ?? { uncounted: 0, unsure: 0 }
      return known && known.used + uncounted + unsure
    }),
  )
}

describe.each(promises)('an exhausted key with %s (%d limits a window, slices %s)', (algorithm, most, slices) => {
  async function exhausted(): Promise<{ one: FailoverBench; limiter: Limiter; freeAt: number }> {
    const one = failoverBench(1e12)
    const limiter = one.limiter('local', policyOf(algorithm, slices))
    await limiter.take('key', 6)
    one.clock.advance(1_500)
    const { allowed, retryAfterMs } = await limiter.take('key')
    expect(allowed).toBe(false)
    return { one, limiter, freeAt: one.clock.now() + retryAfterMs }
  }

  async function staysExhausted({ one, limiter, freeAt }: Awaited<ReturnType<typeof exhausted>>): Promise<void> {
    const stepMs = Math.max(1, Math.floor((freeAt - 1 - one.clock.now()) / 7))
    while (one.clock.now() < freeAt - 1) {
      expect((await limiter.take('key')).allowed).toBe(false)
      one.clock.advance(Math.min(stepMs, freeAt - 1 - one.clock.now()))
    }
    expect((await limiter.take('key')).allowed).toBe(false)
    one.clock.advance(60_000)
    expect((await limiter.take('key')).allowed).toBe(true)
  }

  test('stays exhausted after a restart that empties the backend', async () => {
    const bench = await exhausted()
    bench.one.flaky.restart()
    await staysExhausted(bench)
  })

  test('stays exhausted while the backend is unavailable', async () => {
    const bench = await exhausted()
    bench.one.flaky.condition = serverError('CONNECTION')
    await staysExhausted(bench)
  })

  test('stays exhausted after an outage that ends with an empty backend', async () => {
    const bench = await exhausted()
    await openBreaker(bench.one, bench.limiter)
    await bench.one.takes(bench.limiter, 3)
    bench.one.flaky.restart()
    await closeBreaker(bench.one, bench.limiter)
    expect(bench.one.watcher.events.at(-1)?.data).toMatchObject({ state: 'closed' })
    await staysExhausted(bench)
  })

  test('stays within its guarantee in any window across failures, recoveries and restarts', () =>
    eachSeed(25, async (random) => {
      const { admitted } = await throughFailures(random, policyOf(algorithm, slices), 1)
      for (const at of admitted) expect(during(admitted, at)).toBeLessThanOrEqual(most * 6)
    }))

  test('exceeds its guarantee by at most one unit per trial call if other takes are decided locally meanwhile', () =>
    eachSeed(25, async (random) => {
      const { admitted, trials } = await throughFailures(random, policyOf(algorithm, slices), 4)
      for (const at of admitted) {
        expect(during(admitted, at)).toBeLessThanOrEqual(most * 6 + during(trials, at))
      }
    }))
})

/** Number of the given times that are in the window that begins at `start`. */
function during(times: readonly number[], start: number): number {
  return times.filter((at) => at >= start && at < start + 60_000).length
}

/** Records when takes were admitted and when trial calls were made, with up to `atOnce` concurrent takes. */
async function throughFailures(random: SeededRandom, policy: ReturnType<typeof policyOf>, atOnce: number) {
  const one = failoverBench(random.pick([0, 1e12]))
  const limiter = one.limiter('local', policy)
  const admitted: number[] = []
  const trials: number[] = []
  const trialled = (): void => {
    const states = one.watcher.events.flatMap(({ name, data }) => (name === 'breaker' ? [data.state] : []))
    const made = states.filter((_, index) => states[index - 1] === 'half-open').length
    while (trials.length < made) trials.push(one.clock.now())
  }
  for (let round = 0; round < 100; round++) {
    const change = random.whole(6)
    if (change === 0) one.flaky.condition = random.pick(['well', 'silent', serverError('OOM'), serverError('X')])
    if (change === 1) one.flaky.restart()
    const pending = Array.from({ length: 1 + random.whole(atOnce) }, () => limiter.take('key'))
    for (const { allowed } of await one.answered(Promise.all(pending))) if (allowed) admitted.push(one.clock.now())
    trialled()
    one.clock.advance(random.pick([0, 10, 300, 1_000, 7_000, 20_000]))
  }
  limiter.close()
  expect(admitted.length).toBeGreaterThan(0)
  return { admitted, trials }
}

describe('the carried-over usage of a key', () => {
  test('is not sent as long as there is no failure', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 9)
    expect(sentUsage(one)).toEqual(Array(9).fill(undefined))
  })

  test('is sent once per key after an interruption', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 2, 'a')
    await one.takes(limiter, 3, 'b')
    one.flaky.restart()
    sentUsage(one)
    await one.takes(limiter, 2, 'a')
    await one.takes(limiter, 2, 'b')
    await one.takes(limiter, 2, 'never seen')
    expect(sentUsage(one)).toEqual([2, undefined, 3, undefined, undefined, undefined])
  })

  test('is sent with all policies of a request', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await limiter.take('key', 3)
    one.flaky.restart()
    sentUsage(one)
    await limiter.take('key')
    expect((await limiter.peek('key')).binding.remaining).toBe(0)
  })

  test('is sent again if the answer to a call was created before the interruption', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 2)
    sentUsage(one)
    const early = limiter.take('key')
    one.flaky.tell('lost')
    await early
    await one.takes(limiter, 2)
    expect(sentUsage(one)).toEqual([undefined, 3, undefined])
  })

  test('is sent if a call missed its deadline, because it was decided locally', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await limiter.take('key')
    one.flaky.condition = 'silent'
    await one.answered(limiter.take('key'))
    one.flaky.condition = 'well'
    sentUsage(one)
    await one.takes(limiter, 2)
    await one.takes(limiter, 1, 'other')
    // the backend already has its own counts
    expect(sentUsage(one)).toEqual([1, undefined, undefined])
    expect((await limiter.peek('key')).binding.remaining).toBe(0)
  })

  test('is sent after the breaker was open, even if no data loss was reported', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 4)
    await openBreaker(one, limiter)
    one.flaky.forget()
    await closeBreaker(one, limiter)
    expect(await one.takes(limiter, 1)).toBe('-counted')
  })

  test('is sent after a single failure if the backend does not report interruptions', async () => {
    const one = failoverBench()
    Object.assign(one.flaky, { interrupted: undefined })
    const limiter = one.limiter()
    await one.takes(limiter, 4)
    one.flaky.condition = serverError('CONNECTION')
    await limiter.take('another key')
    one.flaky.condition = 'well'
    one.flaky.forget()
    expect(await one.takes(limiter, 1)).toBe('-counted')
  })

  test.each<[string, (limiter: Limiter) => unknown]>([
    ['a take of one policy', (limiter) => limiter.take('key', 4)],
    ['a take of a list', (limiter) => limiter.take({ default: 'key' }, 4)],
    ['a charge', (limiter) => limiter.charge('key', 4)],
  ])('is sent for %s that was decided locally long after the breaker opened', async (_what, decide) => {
    const one = failoverBench()
    const limiter = one.limiter()
    await openBreaker(one, limiter)
    one.flaky.condition = 'silent'
    one.clock.advance(10 * 60_000)
    await decide(limiter)
    one.flaky.condition = 'well'
    one.clock.advance(1_000)
    // peeks change nothing: the first causes a probe, the second is the trial call
    await limiter.peek('key')
    await settled()
    await limiter.peek('key')
    expect(await one.takes(limiter, 1)).toBe('-counted')
  })

  test.each([
    ['a sliding window', { algorithm: 'sliding-window' }, 4, 59_999],
    ['a large burst', { algorithm: 'token-bucket', burst: 40 }, 40, 8 * 60_000],
  ] as const)('is sent for as long as it can have an effect: %s', async (_what, policy, cost, afterMs) => {
    const one = failoverBench()
    const limiter = one.limiter('local', policy)
    await limiter.take('key', cost)
    one.flaky.restart()
    one.clock.advance(afterMs)
    const { binding } = await limiter.take('key', 0)
    expect(binding.resetAfterMs).toBeGreaterThan(0)
  })

  test('is no longer sent after the longest window has passed', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 3)
    one.flaky.restart()
    one.clock.advance(60_000)
    sentUsage(one)
    await one.takes(limiter, 2)
    expect(sentUsage(one)).toEqual([undefined, undefined])
  })

  test('does not undo a reset by another process after it was sent once', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 4)
    one.flaky.restart()
    expect(await one.takes(limiter, 1)).toBe('-counted')
    const [{ charges }] = one.flaky.heard.slice(-1)
    await one.flaky.resetAll(charges)
    expect(await one.takes(limiter, 5)).toBe('+counted +counted +counted +counted -counted')
  })

  test('is also kept if the rule counts nothing', async () => {
    const one = failoverBench()
    const limiter = one.limiter('allow')
    await one.takes(limiter, 4)
    await openBreaker(one, limiter)
    expect(await one.takes(limiter, 2)).toBe('+allow +allow')
    one.flaky.restart()
    await closeBreaker(one, limiter)
    expect(await one.takes(limiter, 1)).toBe('-counted')
  })

  test('is shared by limiters with the same policy', async () => {
    const one = failoverBench()
    const [mine, yours] = [one.limiter(), one.limiter()]
    await one.takes(mine, 3)
    one.flaky.condition = serverError('OOM')
    expect(await one.takes(yours, 2)).toBe('+local -local')
  })

  test('outlives the limiters that received it, and covers interruptions that happen while no limiter listens', async () => {
    const one = failoverBench()
    const first = one.limiter()
    await one.takes(first, 4)
    first.close()
    expect(one.flaky.listeners).toBe(0)
    one.flaky.restart()
    const second = one.limiter()
    expect(await one.takes(second, 1)).toBe('-counted')
    second.close()
    expect(one.flaky.listeners).toBe(0)
  })
})

describe('an adjustment of a take from a backend with its own clock', () => {
  test.each([0, 1e12, -5e5])(
    'applies to the right local window if the clock of the backend is ahead by %d ms',
    async (aheadMs) => {
      const one = failoverBench(aheadMs)
      const limiter = one.limiter()
      const taken = await limiter.take('key')
      one.clock.advance(10_000)
      one.flaky.condition = serverError('OOM')
      await limiter.charge('key', 3, taken)
      expect((await limiter.take('key')).allowed).toBe(false)
      await limiter.charge('key', -2, taken)
      expect(await one.takes(limiter, 3)).toBe('+local +local -local')
    },
  )

  test.each([0, 1e12])(
    'does not refund to another window if the clock of the backend is ahead by %d ms',
    async (aheadMs) => {
      const one = failoverBench(aheadMs)
      const limiter = one.limiter()
      const taken = await limiter.take('key', 4)
      one.clock.advance(60_000)
      await limiter.take('key', 4)
      one.flaky.condition = serverError('OOM')
      await limiter.charge('key', -4, taken)
      expect((await limiter.take('key')).allowed).toBe(false)
    },
  )

  test('is sent without a deadline, so that it is always applied', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    const taken = await limiter.take('key', 4)
    await limiter.charge('key', -4, taken)
    const [{ moment: ofTake }, { moment: ofCharge }] = one.flaky.heard
    expect([ofTake?.deadlineAt, ofCharge?.deadlineAt]).toEqual([1_050, undefined])
  })
})
