import { expect, test } from '@jest/globals'
import { createLimiter, limitOverrides, type PolicyInput, waitFor } from '@sluice/limiter-core'
import { openPolicies } from '@sluice/limiter-core/http'
import { sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

const BOOKED = { limit: 10, window: '1m', retry: 'booked' } as const

function limiterOf(clock: FakeClock, options: Partial<Omit<PolicyInput, 'backend'>> = {}) {
  return createLimiter({ policies: [{ ...BOOKED, ...options }], clock })
}

test('100 waiting calls on one key each succeed at their first return', async () => {
  const clock = new FakeClock()
  const limiter = limiterOf(clock)
  let takes = 0
  const counted = {
    take: (key: string) => {
      takes++
      return limiter.take(key)
    },
  } as typeof limiter
  const waiting = Array.from({ length: 100 }, () => waitFor(counted, 'a', { maxWaitMs: '15m', clock }))
  let resolved = 0
  for (const each of waiting) each.then(() => resolved++)
  for (let steps = 0; resolved < 100 && steps < 900; steps++) {
    clock.advance(1_000)
    for (let turns = 0; turns < 5; turns++) await Promise.resolve()
  }
  expect((await Promise.all(waiting)).every(({ allowed }) => allowed)).toBe(true)
  expect(takes).toBe(190)
})

test('a waiting call ends at once if its turn is later than its longest wait', async () => {
  const clock = new FakeClock()
  const limiter = limiterOf(clock)
  for (let times = 0; times < 30; times++) limiter.take('a')
  const { allowed, retryAfterMs } = await waitFor(limiter, 'a', { maxWaitMs: '2m', clock })
  expect([allowed, retryAfterMs]).toEqual([false, 183_000])
})

test('keys with an override book turns at their own pace', () => {
  const clock = new FakeClock()
  const overrides = limitOverrides({ limits: { large: 60 } })
  const limiter = limiterOf(clock, { overrides })
  const waitsOf = (key: string, used: number): readonly number[] => {
    for (let times = 0; times < used; times++) limiter.take(key)
    return [limiter.take(key), limiter.take(key)].map(({ retryAfterMs }) => retryAfterMs)
  }
  expect(waitsOf('small', 10)).toEqual([60_000, 67_000])
  expect(waitsOf('large', 60)).toEqual([60_000, 62_000])
})

test('refuses turns where they cannot be booked', () => {
  const backend = sketchBackend()
  const bad: readonly (readonly [object, string])[] = [
    [{ ...BOOKED, backend }, 'a backend that books turns'],
    [{ ...BOOKED, retry: 'soon' }, "retry: expected one of 'booked', received"],
    [{ ...BOOKED, retry: null }, "retry: expected one of 'booked', received null"],
  ]
  for (const [policy, message] of bad) {
    expect(() => createLimiter({ policies: [policy as PolicyInput] })).toThrow(message)
    expect(() => createLimiter({ policies: [policy as PolicyInput] })).toThrow('SLUICE_BAD_OPTION')
  }
})

test('each denied hold has its own turn, at which it is admitted', () => {
  const clock = new FakeClock()
  const limiter = limiterOf(clock, { maxHoldMs: '20s' })
  const hold = (reserve = 1) => limiter.hold('team', { reserve, maxMs: 5_000 })
  expect(hold(10).decision.allowed).toBe(true)
  const waits = Array.from({ length: 20 }, () => hold().decision.retryAfterMs)
  expect(new Set(waits).size).toBe(20)
  let passedMs = 0
  for (const waitMs of waits) {
    clock.advance(waitMs - passedMs)
    passedMs = waitMs
    const open = hold()
    expect([waitMs, open.decision.allowed]).toEqual([waitMs, true])
    open.settle(1)
  }
})

test('policies of one name book turns in all plans or in none', () => {
  const plans = [[{ name: 'p', ...BOOKED }], [{ name: 'p', limit: 20, window: '1m' }]] as const
  expect(() => openPolicies(plans, {})).toThrow("policy 'p': retry: expected the same value in all plans")
  for (const { close } of openPolicies([plans[0], [{ ...plans[1][0], retry: 'booked' }]], {}).flat()) close()
})

test('turns keep their key in memory until they are over', () => {
  const clock = new FakeClock()
  const limiter = limiterOf(clock)
  for (let times = 0; times < 60; times++) limiter.take('a')
  // all usage has expired, but half of the queue is left: its callers have one turn every 6.1 seconds
  clock.advance(200_000)
  expect([limiter.take('a').allowed, limiter.take('a').allowed]).toEqual([true, false])
  clock.advance(300_000)
  for (let times = 0; times < 10; times++) expect(limiter.take('a').allowed).toBe(true)
})

test('the local rule starts from the usage of a key, and books no turns', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = new PromisedBackend(clock)
  const policies = [{ ...BOOKED, algorithm: 'gcra', burst: 2 } as const]
  const limiter = createLimiter({ policies, backend, clock })
  const waits: number[] = []
  for (let times = 0; times < 20; times++) waits.push((await limiter.take('a')).retryAfterMs)
  expect(waits.at(-1)).toBe(108_000)
  backend.failure = new Error('down')
  clock.advance(500)
  const denied = [await limiter.take('a'), await limiter.take('a')]
  expect(denied).toMatchObject([{ source: 'local' }, { source: 'local' }])
  expect(denied.map(({ retryAfterMs }) => retryAfterMs)).toEqual([5_500, 5_500])
  // two units drain in 12 seconds, and the queue of two minutes is not a debt
  clock.advance(11_500)
  expect([await limiter.take('a'), await limiter.take('a')].map(({ allowed }) => allowed)).toEqual([true, true])
  await limiter.close()
})
