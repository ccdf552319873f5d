import { afterEach, expect, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter, memoryBackend, type SluiceError } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { closeBenches, failoverBench, serverError, settled } from '../failover/flaky-backend.ts'

const tokens = { name: 'tokens', algorithm: 'fixed-window', limit: 100, window: '1m', maxHoldMs: '10s' } as const

afterEach(closeBenches)

function limiterOf(...more: readonly object[]): Limiter<Decision> {
  const clock = new FakeClock()
  return createLimiter({ policies: [{ ...tokens }, ...(more as [])], backend: memoryBackend({ clock }), clock })
}

function remainingOf(limiter: Limiter<Decision>, key = 'a'): readonly number[] {
  return limiter.peek(key).verdicts.map(({ remaining }) => remaining)
}

function codeOf(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return (error as SluiceError).message
  }
}

test('bad options of a hold and of its policies throw', () => {
  const limiter = limiterOf()
  const codes = [
    () => limiter.hold('a', {} as never),
    () => limiter.hold('a', { reserve: -1 }),
    () => limiter.hold('a', { reserve: Number.NaN }),
    () => limiter.hold('a', { reserve: { other: 1 } }),
    () => limiter.hold('a', undefined as never),
    () => limiter.hold('a', { reserve: 1, maxMs: 10_001 }),
    () => limiter.hold('a', { reserve: 1, maxMs: 'soon' as never }),
    () => limiter.hold('a', { reserve: 1, max: 5 } as never),
    () => limiter.hold(1 as never, { reserve: 1 }),
    () => createLimiter({ limit: 1, window: '1m' }).hold('a', { reserve: 1 }),
    () => createLimiter({ limit: 1, window: '1m', maxHoldMs: 0 }),
    () => createLimiter({ limit: 1, window: '1m', maxHoldMs: 'long' as never }),
  ].map((run) => String(codeOf(run)).split(':')[0])
  expect(codes).toEqual([
    'SLUICE_BAD_COST',
    'SLUICE_BAD_COST',
    'SLUICE_BAD_COST',
    'SLUICE_BAD_COST',
    'SLUICE_BAD_OPTION',
    'SLUICE_BAD_OPTION',
    'SLUICE_BAD_DURATION',
    'SLUICE_BAD_OPTION',
    'SLUICE_BAD_KEY',
    'SLUICE_BAD_OPTION',
    'SLUICE_BAD_DURATION',
    'SLUICE_BAD_DURATION',
  ])
  expect(codeOf(() => createLimiter({ limit: 1, window: '1m' }).hold('a', { reserve: 1 }))).toContain(
    "SLUICE_BAD_OPTION: hold: expected a policy with maxHoldMs, such as { limit: 100, window: '1m', maxHoldMs: '10m' }",
  )
  // nothing was held
  expect(remainingOf(limiter)).toEqual([100])
})

test('a hold on a synchronous limiter is synchronous, and fractions are rounded up', () => {
  const limiter = limiterOf()
  const hold = limiter.hold('a', { reserve: 9.5, maxMs: '5s' })
  expect([hold.allowed, hold.decision.binding.remaining]).toEqual([true, 90])
  expect(hold.extend(0.5)).toBe(true)
  expect(remainingOf(limiter)).toEqual([89])
  expect(hold.settle(20.1).binding.remaining).toBe(79)
  expect(hold.release().binding.remaining).toBe(79)
})

test('a bad settlement throws, and the hold stays open', () => {
  const limiter = limiterOf()
  const hold = limiter.hold('a', { reserve: 10 })
  expect(String(codeOf(() => hold.settle(-1)))).toMatch(/^SLUICE_BAD_COST/)
  expect(String(codeOf(() => hold.extend(Number.NaN)))).toMatch(/^SLUICE_BAD_COST/)
  expect(remainingOf(limiter)).toEqual([90])
  hold.settle(1)
  expect(remainingOf(limiter)).toEqual([99])
})

test('a policy in shadow mode that would deny holds nothing, and is charged by the settlement', () => {
  const limiter = limiterOf({ ...tokens, name: 'small', limit: 10, mode: 'shadow' })
  const hold = limiter.hold('a', { reserve: 20 })
  expect([hold.allowed, remainingOf(limiter)]).toEqual([true, [80, 10]])
  hold.settle(5)
  expect(remainingOf(limiter)).toEqual([95, 5])
})

test('units that one backend holds are returned if another backend denies', () => {
  const clock = new FakeClock()
  const [one, other] = [memoryBackend({ clock }), memoryBackend({ clock })]
  const policies = [
    { ...tokens, backend: one },
    { ...tokens, name: 'small', limit: 30, backend: other },
  ] as const
  const limiter = createLimiter({ policies, clock })
  const hold = limiter.hold('a', { reserve: 20 })
  expect(limiter.hold('a', { reserve: 11 }).allowed).toBe(false)
  expect(remainingOf(limiter)).toEqual([80, 10])
  expect(hold.extend(11)).toBe(false)
  expect(remainingOf(limiter)).toEqual([80, 10])
  clock.advance(6_000)
  expect(hold.extend(10)).toBe(true)
  expect(hold.extend(1)).toBe(false)
  expect(remainingOf(limiter)).toEqual([70, 0])
  hold.settle(7)
  expect(remainingOf(limiter)).toEqual([93, 23])
})

test('an extension after the time of a hold is over holds all its units again, or none if they do not fit', () => {
  const clock = new FakeClock()
  const limiter = createLimiter({ policies: [tokens], backend: memoryBackend({ clock }), clock })
  const hold = limiter.hold('a', { reserve: 50, maxMs: '1s' })
  clock.advance(3_000)
  expect(remainingOf(limiter)).toEqual([100])
  expect(hold.extend(1)).toBe(true)
  expect(remainingOf(limiter)).toEqual([49])
  clock.advance(3_000)
  limiter.hold('a', { reserve: 60 })
  expect(hold.extend(1)).toBe(false)
  expect(remainingOf(limiter)).toEqual([40])
  hold.settle(10)
  expect(remainingOf(limiter)).toEqual([30])
  expect(hold.extend(1)).toBe(false)
})

test('a settlement follows an extension that is still in progress', async () => {
  const clock = new FakeClock()
  const limiter = createLimiter({ policies: [{ ...tokens }], backend: new PromisedBackend(clock), clock })
  const hold = await limiter.hold('a', { reserve: 10 })
  const extended = hold.extend(30)
  const released = hold.release()
  expect(await extended).toBe(true)
  expect((await released).binding.remaining).toBe(100)
  expect(await hold.extend(30)).toBe(false)
  expect((await limiter.peek('a')).binding.remaining).toBe(100)
})

test('holds that a failure rule admits are settled, and end by themselves', async () => {
  const bench = failoverBench()
  const limiter = bench.limiter('local', { limit: 100, maxHoldMs: '10s' })
  const held = await limiter.hold('a', { reserve: 30 })
  bench.flaky.condition = serverError('CONNECTION')
  const admitted = await limiter.hold('a', { reserve: 20 })
  const forgotten = await limiter.hold('a', { reserve: 10 })
  expect([admitted.allowed, admitted.decision.counted, forgotten.allowed]).toEqual([true, false, true])
  expect((await limiter.hold('a', { reserve: 41 })).allowed).toBe(false)
  await admitted.settle(5)
  expect((await limiter.hold('a', { reserve: 56 })).allowed).toBe(false)
  bench.clock.advance(10_000)
  await settled()
  bench.flaky.condition = 'well'
  await held.settle(15)
  const { binding } = await limiter.take('a', 0)
  await settled()
  expect(100 - binding.remaining).toBe(20)
  expect(100 - (await limiter.peek('a')).binding.remaining).toBe(20)
})

test('a settlement that the backend does not answer is applied once, later', async () => {
  const bench = failoverBench()
  const limiter = bench.limiter('local', { limit: 100, maxHoldMs: '10s' })
  const hold = await limiter.hold('a', { reserve: 30 })
  bench.flaky.condition = serverError('CONNECTION')
  await hold.settle(12)
  bench.flaky.condition = 'well'
  bench.clock.advance(1_000)
  for (let times = 0; times < 3; times++) {
    await limiter.take('a', 0)
    await settled()
  }
  expect(100 - (await limiter.peek('a')).binding.remaining).toBe(12)
})

test('usage that changes with the policy includes held units, and their settlement is counted', async () => {
  const { openPolicies, PolicyLimiter, Observers } = await import('@sluice/limiter-core/http')
  const clock = new FakeClock()
  const backend = memoryBackend({ clock })
  const identity = {}
  const limiterOf = (window: '1m' | '2m') => {
    const [opened] = openPolicies([[{ ...tokens, window }]], { backend, identity, clock })
    return new PolicyLimiter(opened, clock, new Observers())
  }
  const before = limiterOf('1m')
  const hold = await before.hold('a', { reserve: 40 })
  const after = limiterOf('2m')
  after.replace(before)
  expect((await after.peek('a')).binding.remaining).toBe(60)
  await hold.settle(25)
  expect((await after.peek('a')).binding.remaining).toBe(75)
})
