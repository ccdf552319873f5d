import assert from 'node:assert/strict'
import { createLimiter, type Decision, type Limiter, type Mode, type PolicyInput } from '@sluice/limiter-core'
import { PolicyVariants } from '@sluice/limiter-core/backend'
import type { HoldBench } from '../holds/hold-bench.ts'

const LIMIT = 10
const CLIENTS = 100

function limiterOn({ backend, clock }: HoldBench, options: Partial<PolicyInput> = {}, mode: Mode = 'enforce'): Limiter {
  const policy: PolicyInput = { name: 'turns', algorithm: 'sliding-log', limit: LIMIT, window: '1m', retry: 'booked' }
  return createLimiter({
    backend,
    clock,
    scope: 'turns',
    mode,
    // the clock moves while calls are under way
    deadlineMs: 60_000,
    policies: [{ ...policy, ...options }],
  })
}

async function takes(limiter: Limiter, count: number, key = 'a'): Promise<readonly Decision[]> {
  const decisions: Decision[] = []
  for (let times = 0; times < count; times++) decisions.push(await limiter.take(key))
  return decisions
}

const waitsOf = (decisions: readonly Decision[]): readonly number[] => decisions.map(({ retryAfterMs }) => retryAfterMs)

/** Claims about backends that book turns of denied callers, by their names. */
export const turnClaims: Readonly<Record<string, (bench: HoldBench) => Promise<void>>> = {
  'admits all denied callers when they return at the time that they were told': async (bench) => {
    const limiter = limiterOn(bench)
    const { clock } = bench
    const startMs = clock.now()
    const first = await takes(limiter, CLIENTS)
    const returns = waitsOf(first.filter(({ allowed }) => !allowed)).toSorted((a, b) => a - b)
    assert.deepEqual([returns.length, returns.every((ms) => ms % 1_000 === 0)], [CLIENTS - LIMIT, true])
    for (const afterMs of returns) {
      clock.advance(startMs + afterMs - clock.now())
      assert.equal((await limiter.take('a')).allowed, true)
    }
    await limiter.close()
  },

  'tells each denied caller of a key another time, and books nothing for a peek': async (bench) => {
    const limiter = limiterOn(bench)
    await takes(limiter, LIMIT)
    const peeked = await limiter.peek('a')
    assert.deepEqual(
      waitsOf([peeked, await limiter.peek('a'), ...(await takes(limiter, 2))]),
      [60_000, 60_000, 60_000, 67_000],
    )
    const [denied] = await takes(limiter, 1)
    const { retryAfterMs, availableAfterMs, remaining } = denied.binding
    assert.deepEqual([retryAfterMs, availableAfterMs, remaining], [73_000, 73_000, 0])
    assert.equal((await limiter.take('b')).allowed, true)
    await limiter.close()
  },

  'keeps the first turn for its caller, and returns turns that nobody takes': async (bench) => {
    const limiter = limiterOn(bench)
    const { clock } = bench
    await takes(limiter, LIMIT)
    clock.advance(500)
    await takes(limiter, LIMIT)
    // the window of the first takes is over, but the first turn is half a second later
    clock.advance(59_750)
    assert.equal((await limiter.take('a')).allowed, false)
    clock.advance(250)
    assert.deepEqual(
      (await takes(limiter, 2)).map(({ allowed }) => allowed),
      [true, false],
    )
    clock.advance(200_000)
    assert.equal((await limiter.peek('a')).binding.remaining, LIMIT)
    assert.ok((await takes(limiter, LIMIT)).every(({ allowed }) => allowed))
    await limiter.close()
  },

  'admits a new caller if there is room for all booked units': async (bench) => {
    const limiter = limiterOn(bench)
    await takes(limiter, LIMIT - 2)
    assert.equal((await limiter.take('a', 4)).allowed, false)
    assert.equal((await limiter.take('a')).allowed, false)
    await limiter.reset('a')
    assert.equal((await limiter.peek('a')).binding.remaining, LIMIT)
    const spent = await limiter.take('a', LIMIT - 1)
    assert.equal((await limiter.take('a', 2)).allowed, false)
    await limiter.charge('a', 1 - LIMIT, spent)
    // two units are booked, as five turns of two units
    assert.equal((await limiter.peek('a')).binding.remaining, LIMIT - 2)
    assert.equal((await limiter.take('a', LIMIT - 2)).allowed, true)
    assert.equal((await limiter.take('a')).allowed, false)
    await limiter.close()
  },

  'books at most ten limits for a key': async (bench) => {
    const limiter = limiterOn(bench)
    const waits = waitsOf(await takes(limiter, 13 * LIMIT))
    assert.equal(new Set(waits.slice(LIMIT, 11 * LIMIT)).size, 10 * LIMIT)
    assert.equal(new Set(waits.slice(11 * LIMIT)).size, 1)
    assert.ok(waits[waits.length - 1] < 700_000)
    await limiter.close()
  },

  'books nothing in shadow mode, or for a cost that never fits': async (bench) => {
    const limiter = limiterOn(bench, {}, 'shadow')
    const shadowed = await takes(limiter, LIMIT + 3)
    assert.deepEqual(
      shadowed.slice(LIMIT).map(({ binding }) => binding.retryAfterMs),
      [60_000, 60_000, 60_000],
    )
    await limiter.close()
    const enforced = limiterOn(bench)
    assert.deepEqual(waitsOf([await enforced.take('b', LIMIT + 1)]), [Number.POSITIVE_INFINITY])
    assert.ok((await takes(enforced, LIMIT, 'b')).every(({ allowed }) => allowed))
    await enforced.close()
  },

  'reports usage without turns for a charge of no units': async (bench) => {
    const limiter = limiterOn(bench)
    await takes(limiter, 3 * LIMIT)
    // all usage has expired, and 20 turns are left, the first of which is due
    bench.clock.advance(60_000)
    await takes(limiter, 1)
    const [usage, next] = [await limiter.peek('a', 0), await limiter.peek('a')]
    assert.deepEqual([usage.binding.remaining, next.binding.remaining], [LIMIT - 1, 0])
    await limiter.close()
  },

  'counts units that were admitted elsewhere beside booked turns, which remain': async ({ backend, clock }) => {
    const policy = { name: 'turns', algorithm: 'sliding-log', limit: LIMIT, windowMs: 60_000, retry: 'booked' } as const
    const counter = backend.open(new PolicyVariants([policy]).compile(policy), 'contract/admitted-turns')
    const charge = { key: 'a', counter, cost: 1 }
    for (let times = 0; times < 3 * LIMIT; times++) await backend.takeAll([charge])
    clock.advance(60_000)
    await backend.takeAll([charge])
    const admitted = { uncounted: 4, unsure: 0, upTo: 0, ageMs: 1 }
    const known = { used: 0, resetAfterMs: 60_000, admitted }
    await backend.takeAll([{ ...charge, cost: 0, known }])
    const read = async (cost: number): Promise<number> =>
      (await backend.peekAll([{ ...charge, cost }])).verdicts[0].remaining
    assert.deepEqual([await read(0), await read(1)], [LIMIT - 5, 0])
  },

  'books the turns of a policy that denies, beside policies that do not': async (bench) => {
    const { backend, clock } = bench
    const policies: PolicyInput[] = [
      { name: 'turns', algorithm: 'gcra', limit: 6, window: '1m', burst: 2, retry: 'booked' },
      { name: 'others', algorithm: 'fixed-window', limit: 100, window: '1m' },
    ]
    const limiter = createLimiter({ backend, clock, scope: 'beside', deadlineMs: 60_000, policies })
    const decisions = await takes(limiter, 4)
    assert.deepEqual(waitsOf(decisions), [0, 0, 10_000, 20_000])
    clock.advance(10_000)
    assert.deepEqual(
      (await takes(limiter, 2)).map(({ allowed }) => allowed),
      [true, false],
    )
    assert.equal((await limiter.peek('a')).verdicts[1].remaining, 97)
    await limiter.close()
  },
}
