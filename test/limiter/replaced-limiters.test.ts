import { beforeEach, expect, jest, test } from '@jest/globals'
import { type AlgorithmName, memoryBackend } from '@sluice/limiter-core'
import {
  type LimiterIdentity,
  Observers,
  openPolicies,
  type PolicyInput,
  PolicyLimiter,
} from '@sluice/limiter-core/http'
import { FakeClock } from '@sluice/testkit'

const clock = new FakeClock()
let identity: LimiterIdentity = {}
let backend = memoryBackend({ clock })

beforeEach(() => {
  identity = {}
  backend = memoryBackend({ clock })
})

function limiterOf(...policies: readonly Omit<PolicyInput, 'name'>[]): PolicyLimiter {
  const inputs = policies.map((policy, index) => ({ name: `p${index}`, ...policy }))
  const [open] = openPolicies([inputs], { backend, clock, identity })
  return new PolicyLimiter(open, clock, new Observers())
}

/** Returns the limiter that takes the place of another one. */
function replaced(previous: PolicyLimiter, ...policies: readonly Omit<PolicyInput, 'name'>[]): PolicyLimiter {
  const next = limiterOf(...policies)
  next.replace(previous)
  return next
}

async function remaining(limiter: PolicyLimiter, key = 'a'): Promise<number> {
  return (await limiter.peek(key)).binding.remaining
}

const ALGORITHMS: readonly AlgorithmName[] = ['sliding-log', 'sliding-window', 'fixed-window', 'token-bucket', 'gcra']
const SHAPES = [
  { limit: 10, window: '1m' },
  { limit: 20, window: '1m' },
  { limit: 50, window: '10m' },
  { limit: 5, window: '10s' },
] as const
const FORMS = ALGORITHMS.flatMap((algorithm) => SHAPES.map((shape) => ({ algorithm, ...shape })))
const CHANGES = FORMS.flatMap((from) => FORMS.map((to) => [from, to] as const))

test.each(CHANGES)('a key keeps its usage from %j to %j', async (from, to) => {
  for (const used of [0, 1, 4, from.limit]) {
    identity = {}
    const key = `key-${used}`
    const before = limiterOf(from)
    await before.charge(key, used)
    const after = replaced(before, to)
    expect([used, await remaining(after, key)]).toEqual([used, Math.max(0, to.limit - used)])
    const decision = await after.take(key)
    expect(decision.allowed).toBe(to.limit > used)
    after.close()
  }
})

test.each(FORMS)('a key that is denied is allowed again in time, for %j', async (to) => {
  const before = limiterOf({ algorithm: 'fixed-window', limit: 10, window: '1m' })
  await before.charge('a', 10)
  const after = replaced(before, to)
  const { allowed, binding } = await after.take('a', 1)
  expect(allowed).toBe(to.limit > 10)
  const longest = to.window === '10m' ? 1_200_000 : 120_000
  expect(binding.resetAfterMs).toBeLessThanOrEqual(longest)
  clock.advance(longest)
  expect(await remaining(after)).toBe(to.limit)
})

test('usage survives several changes within one window, in both directions', async () => {
  const minute = { algorithm: 'fixed-window', limit: 10, window: '1m' } as const
  const hour = { algorithm: 'sliding-window', limit: 100, window: '1h' } as const
  let limiter = limiterOf(minute)
  let used = 0
  for (let change = 0; change < 20; change++) {
    expect(await remaining(limiter)).toBe((change % 2 === 0 ? 10 : 100) - used)
    if (used < 10) {
      await limiter.take('a')
      used++
    }
    limiter = replaced(limiter, change % 2 === 0 ? hour : minute)
  }
  expect((await limiter.take('a')).allowed).toBe(false)
})

test('a policy that is added begins empty, and the others keep their counts', async () => {
  const p = { algorithm: 'fixed-window', limit: 10, window: '1m' } as const
  const before = limiterOf(p)
  await before.take('a', 4)
  const after = replaced(before, { ...p, limit: 8 }, { ...p, limit: 3 })
  expect((await after.peek('a')).verdicts.map((verdict) => verdict.remaining)).toEqual([4, 3])
})

test('a take that was decided before the change is refunded after it', async () => {
  const before = limiterOf({ algorithm: 'fixed-window', limit: 10, window: '1m' })
  const first = await before.take('a', 4)
  const second = await before.take('a', 3)
  const after = replaced(before, { algorithm: 'sliding-log', limit: 10, window: '2m' })
  await before.charge('a', -4, first)
  expect(await remaining(after)).toBe(7)
  await before.charge('a', -3, second)
  expect(await remaining(after)).toBe(10)
})

test('a refund reaches the third limiter, whichever of them carried the key', async () => {
  const first = limiterOf({ algorithm: 'fixed-window', limit: 10, window: '1m' })
  const taken = await first.take('a', 4)
  const second = replaced(first, { algorithm: 'fixed-window', limit: 12, window: '1m' })
  const third = replaced(second, { algorithm: 'fixed-window', limit: 20, window: '2m' })
  expect(await remaining(third)).toBe(16)
  await first.charge('a', -4, taken)
  expect(await remaining(third)).toBe(20)
})

test('a take of a replaced limiter counts in the limiter that has carried its key', async () => {
  const before = limiterOf({ algorithm: 'fixed-window', limit: 10, window: '1m' })
  await before.take('a')
  const after = replaced(before, { algorithm: 'sliding-log', limit: 10, window: '2m' })
  expect(await remaining(after)).toBe(9)
  await before.take('a', 2)
  expect(await remaining(after)).toBe(7)
  await before.take('b', 2)
  expect(await remaining(after, 'b')).toBe(8)
})

test('a take of a replaced limiter counts once, even if a later limiter has its window again', async () => {
  const minute = { algorithm: 'fixed-window', limit: 100, window: '1m' } as const
  const hour = { algorithm: 'fixed-window', limit: 100, window: '1h' } as const
  const first = limiterOf(minute)
  await first.take('a', 10)
  let limiter = first
  for (const form of [hour, minute, hour, minute]) {
    limiter = replaced(limiter, form)
    expect(await remaining(limiter)).toBe(90)
  }
  const decision = await first.take('a', 5)
  expect(await remaining(limiter)).toBe(85)
  await first.charge('a', -5, decision)
  expect(await remaining(limiter)).toBe(90)
  expect(await remaining(replaced(limiter, hour))).toBe(90)
})

test('a key that is reset does not get its earlier usage back', async () => {
  const before = limiterOf({ algorithm: 'fixed-window', limit: 10, window: '1m' })
  await before.take('a', 4)
  await before.take('b', 4)
  const after = replaced(before, { algorithm: 'fixed-window', limit: 10, window: '2m' })
  expect(await remaining(after)).toBe(6)
  await after.reset('a')
  await after.reset('b')
  expect([await remaining(after), await remaining(after, 'b')]).toEqual([10, 10])
})

test('a fast path is used again when no earlier usage counts any longer', async () => {
  const take = jest.spyOn(backend, 'takeAll')
  const before = limiterOf({ algorithm: 'fixed-window', limit: 10, window: '1m' })
  await before.take('a')
  expect(take).not.toHaveBeenCalled()
  const after = replaced(before, { algorithm: 'fixed-window', limit: 10, window: '2m' })
  await after.take('a')
  expect(take).toHaveBeenCalled()
  clock.advance(300_000)
  await after.take('a')
  take.mockClear()
  await after.take('a')
  expect(take).not.toHaveBeenCalled()
})

test('a limiter that takes the place of another one does not warn about a shared count', async () => {
  const p = { algorithm: 'fixed-window', limit: 10, window: '1m' } as const
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const before = limiterOf(p)
  const after = replaced(before, { ...p, limit: 12 })
  replaced(after, { ...p, window: '2m' })
  expect(warn).not.toHaveBeenCalled()
  warn.mockRestore()
})
