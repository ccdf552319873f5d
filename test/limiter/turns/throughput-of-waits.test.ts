import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Limiter, type PolicyInput, waitFor } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

const CALLS = 50
/**
 * `RateLimiterQueue` of rate-limiter-flexible 11 takes this long for 50 calls at 10 a second: ten succeed at once, and
 * ten at the end of each of four windows. No limiter can be faster.
 */
const PEER_MS = 4_000
/** A burst of one unit is followed by 49 units, one every 100 ms. */
const ONE_BY_ONE_MS = 4_900

type Input = Omit<PolicyInput, 'limit' | 'window' | 'backend'>

type End = number | 'denied'

interface Call {
  readonly cost?: number
  readonly maxWaitMs?: number
}

/** Starts waits for one key. Returns a list that receives when each was allowed, in milliseconds from now. */
function started(clock: FakeClock, limiter: Limiter, calls: readonly Call[]): (End | undefined)[] {
  const start = clock.now()
  const ends: (End | undefined)[] = calls.map(() => undefined)
  for (const [index, { cost = 1, maxWaitMs = 600_000 }] of calls.entries()) {
    waitFor(limiter, 'key', { maxWaitMs, cost, clock }).then(({ allowed }) => {
      ends[index] = allowed ? clock.now() - start : 'denied'
    })
  }
  return ends
}

/** Advances the clock until all lists are complete. */
async function completed(clock: FakeClock, ...lists: readonly (readonly (End | undefined)[])[]): Promise<void> {
  await settled()
  for (let ms = 0; lists.flat().includes(undefined) && ms < 100_000; ms += 10) {
    clock.advance(10)
    await settled()
  }
}

async function endsOf(clock: FakeClock, limiter: Limiter, calls: readonly Call[]): Promise<(End | undefined)[]> {
  const ends = started(clock, limiter, calls)
  await completed(clock, ends)
  return ends
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await turn()
}

function oneEach(calls: number): readonly Record<string, never>[] {
  return Array.from({ length: calls }, () => ({}))
}

describe('waits with booked turns', () => {
  test.each<readonly [string, Input, number]>([
    ['fixed-window', { algorithm: 'fixed-window' }, PEER_MS],
    ['sliding-log', { algorithm: 'sliding-log' }, PEER_MS],
    ['sliding-window with slices', { algorithm: 'sliding-window', slices: 10 }, PEER_MS * 1.1],
    ['token-bucket', { algorithm: 'token-bucket' }, PEER_MS],
    ['token-bucket with a burst of 1', { algorithm: 'token-bucket', burst: 1 }, ONE_BY_ONE_MS],
    ['gcra', { algorithm: 'gcra', burst: 10 }, PEER_MS],
    ['gcra with a burst of 1', { algorithm: 'gcra', burst: 1 }, ONE_BY_ONE_MS],
  ])('take at most 5 %% longer than a queue of the peer: %s', async (_name, input, bestMs) => {
    for (const isAsync of [false, true]) {
      const clock = new FakeClock({ nowMs: 1_234 })
      const policies = [{ limit: 10, window: '1s', retry: 'booked', ...input }] as const
      const backend = isAsync ? new PromisedBackend(clock) : undefined
      const limiter = createLimiter({ policies, clock, ...(backend && { backend }) })
      const ends = await endsOf(clock, limiter, oneEach(CALLS))
      expect(Math.max(...(ends as number[]))).toBeLessThanOrEqual(bestMs * 1.05)
      // in the order of the calls
      expect(ends).toEqual([...ends].sort((a, b) => Number(a) - Number(b)))
      expect(clock.pending).toBe(0)
      await limiter.close()
    }
  })

  test('take the time of their units, whatever the costs are', () =>
    eachSeed(20, async (random) => {
      const clock = new FakeClock({ nowMs: random.whole(5_000) })
      const algorithm = random.pick(['fixed-window', 'sliding-log', 'token-bucket', 'gcra'] as const)
      const unbooked = { limit: 10, window: '1s', algorithm, ...(algorithm === 'gcra' && { burst: 10 }) } as const
      const limiter = createLimiter({ policies: [{ ...unbooked, retry: 'booked' }], clock })
      const calls = Array.from({ length: 40 }, () => ({ cost: 1 + random.whole(3) }))
      const plain = createLimiter({ policies: [unbooked], clock: new FakeClock({ nowMs: clock.now() }) })
      // the window has begun before the calls
      const used = random.whole(11)
      plain.take('key', used)
      limiter.take('key', used)
      clock.advance(random.whole(900))
      const inOrder = await oneAfterAnother(plain, calls, clock.now())
      const ends = (await endsOf(clock, limiter, calls)) as number[]
      expect(Math.max(...ends)).toBeLessThanOrEqual(inOrder * 1.05 + 100)
    }))

  test('a call that waits behind others ends when its longest wait is over', async () => {
    const clock = new FakeClock()
    const limiter = createLimiter({ limit: 10, window: '1s', retry: 'booked', algorithm: 'fixed-window', clock })
    const ends = await endsOf(clock, limiter, [...oneEach(20), { maxWaitMs: 1_500 }, {}])
    expect(ends.slice(19)).toEqual([1_000, 'denied', 2_000])
  })

  test('an aborted call lets the next one proceed', async () => {
    const clock = new FakeClock()
    const limiter = createLimiter({ limit: 1, window: '1s', retry: 'booked', algorithm: 'fixed-window', clock })
    const leaving = new AbortController()
    await waitFor(limiter, 'key', { maxWaitMs: '1m', clock })
    const aborted = [1, 2].map(() => waitFor(limiter, 'key', { maxWaitMs: '1m', clock, signal: leaving.signal }))
    const ends = endsOf(clock, limiter, oneEach(1))
    leaving.abort(new Error('left'))
    expect((await Promise.allSettled(aborted)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await ends).toEqual([1_000])
  })

  test('calls of two processes, and clients that book turns, are all admitted in a bounded time', async () => {
    const clock = new FakeClock()
    const backend = new PromisedBackend(clock)
    const policies = [{ name: 'p', limit: 10, window: '1s', retry: 'booked', algorithm: 'fixed-window' }] as const
    const [one, other, third] = [1, 2, 3].map(() => createLimiter({ policies, backend, clock, shared: true }))
    const clients: (End | undefined)[] = Array.from({ length: 20 }, () => undefined)
    const client = async (index: number): Promise<void> => {
      for (;;) {
        const { allowed, retryAfterMs } = await third.take('key')
        if (allowed) break
        await new Promise<void>((resolve) => clock.after(retryAfterMs, resolve))
      }
      clients[index] = clock.now()
    }
    for (const index of clients.keys()) client(index)
    const [ends, others] = [started(clock, one, oneEach(30)), started(clock, other, oneEach(30))]
    await completed(clock, ends, others, clients)
    // 80 units at the pace of booked turns, (1 s + 1.1 s) / 10
    expect(Math.max(...([...ends, ...others, ...clients] as number[]))).toBeLessThanOrEqual(80 * 210 + 2_000)
  })
})

/** Returns how long calls take that wait one after another without turns. */
async function oneAfterAnother(
  limiter: Limiter,
  calls: readonly { readonly cost: number }[],
  start: number,
): Promise<number> {
  let now = start
  for (const { cost } of calls) {
    for (;;) {
      const { allowed, retryAfterMs } = await limiter.take('key', cost, { now })
      if (allowed) break
      now += retryAfterMs
    }
  }
  return now - start
}
