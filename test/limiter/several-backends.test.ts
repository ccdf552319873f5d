import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'

/** A policy in memory and a policy on a remote backend, both with a window of 60 s. */
function nearAndFar(limits: { near: number; far: number }, more: { farMode?: 'shadow'; nearMode?: 'shadow' } = {}) {
  const clock = new FakeClock({ nowMs: 1_000 })
  const far = new PromisedBackend(clock)
  const near = memoryBackend({ clock })
  const algorithm = 'fixed-window' as const
  const limiter = createLimiter({
    policies: [
      {
        name: 'far',
        limit: limits.far,
        window: '1m',
        algorithm,
        backend: far,
        ...(more.farMode && { mode: more.farMode }),
      },
      { name: 'near', limit: limits.near, window: '1m', algorithm, ...(more.nearMode && { mode: more.nearMode }) },
    ],
    backend: near,
    clock,
  })
  const remaining = async () =>
    (await limiter.peek('key')).verdicts.map(({ policy, remaining: left }) => [policy.name, left])
  return { clock, far, limiter, remaining }
}

describe('policies on several backends', () => {
  test('are all charged, and their verdicts are in the order of the policies', async () => {
    const { limiter, remaining } = nearAndFar({ near: 5, far: 9 })
    const decision = await limiter.take('key', 2)
    expect(decision).toMatchObject({ allowed: true, counted: true, source: 'memory+promised', takenAt: 1_000 })
    expect(await remaining()).toEqual([
      ['far', 7],
      ['near', 3],
    ])
  })

  test('return a promise, or the decision itself if all backends are synchronous', async () => {
    const { limiter } = nearAndFar({ near: 5, far: 9 })
    expect(limiter.take('key')).toBeInstanceOf(Promise)
    const [a, b] = [memoryBackend(), memoryBackend()]
    const both = createLimiter({
      policies: [
        { name: 'a', limit: 1, window: '1m', backend: a },
        { name: 'b', limit: 1, window: '1m', backend: b },
      ],
    })
    const decision: Decision = both.take('key')
    expect([decision.allowed, both.take('key').allowed]).toEqual([true, false])
  })

  test('ask the synchronous backend first, and no other if it denies', async () => {
    const { limiter, far, remaining } = nearAndFar({ near: 1, far: 9 })
    await limiter.take('key')
    far.calls.length = 0
    const decision = await limiter.take('key')
    expect([decision.allowed, decision.verdicts.map(({ policy }) => policy.name)]).toEqual([false, ['near']])
    expect(far.calls).toEqual([])
    expect(await remaining()).toEqual([
      ['far', 8],
      ['near', 0],
    ])
  })

  test('refund the earlier charges when a later backend denies', async () => {
    const { limiter, remaining } = nearAndFar({ near: 5, far: 1 })
    await limiter.take('key')
    const decision = await limiter.take('key')
    expect([decision.allowed, decision.binding.policy.name, decision.retryAfterMs]).toEqual([false, 'far', 60_000])
    expect(await remaining()).toEqual([
      ['far', 0],
      ['near', 4],
    ])
  })

  test('never admit more than the smallest limit, with many concurrent requests', async () => {
    const { limiter } = nearAndFar({ near: 12, far: 7 })
    const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.take('key')))
    expect(decisions.filter(({ allowed }) => allowed).length).toBe(7)
  })

  test('refund an advisory charge when an enforced policy denies later', async () => {
    const { limiter, remaining } = nearAndFar({ near: 5, far: 1 }, { nearMode: 'shadow' })
    await limiter.take('key')
    expect((await limiter.take('key')).allowed).toBe(false)
    expect(await remaining()).toEqual([
      ['far', 0],
      ['near', 4],
    ])
  })

  test('never deny by an advisory policy, and count it if all policies fit', async () => {
    const { limiter, remaining } = nearAndFar({ near: 5, far: 1 }, { farMode: 'shadow' })
    await limiter.take('key')
    const decision = await limiter.take('key')
    expect([decision.allowed, decision.retryAfterMs, decision.binding.policy.name]).toEqual([true, 0, 'near'])
    expect(await remaining()).toEqual([
      ['far', 0],
      ['near', 3],
    ])
  })

  test('refund each policy at its own reading of the clock', async () => {
    const { limiter, clock, remaining } = nearAndFar({ near: 5, far: 9 })
    const decision = await limiter.take('key', 3)
    clock.advance(1_000)
    await limiter.charge('key', -2, decision)
    expect(decision.takenAts).toEqual([1_000, 1_000])
    expect(await remaining()).toEqual([
      ['far', 8],
      ['near', 4],
    ])
  })

  test('reset a key everywhere', async () => {
    const { limiter, remaining } = nearAndFar({ near: 5, far: 9 })
    await limiter.take('key', 3)
    await limiter.reset('key')
    expect(await remaining()).toEqual([
      ['far', 9],
      ['near', 5],
    ])
  })

  test('are all counted if one backend fails; its policy is counted in this process', async () => {
    const { limiter, far, remaining } = nearAndFar({ near: 5, far: 3 })
    far.failure = new Error('down')
    expect(await limiter.take('key', 2)).toMatchObject({ allowed: true, counted: false, source: 'memory+local' })
    expect(await remaining()).toEqual([
      ['far', 1],
      ['near', 3],
    ])
    expect(await limiter.take('key', 2)).toMatchObject({ allowed: false, counted: false })
    expect(await remaining()).toEqual([
      ['far', 1],
      ['near', 3],
    ])
  })

  test('refund units taken under the failure rule if another backend denies', async () => {
    const clock = new FakeClock()
    const [dead, far] = [new PromisedBackend(clock), new PromisedBackend(clock)]
    dead.failure = new Error('down')
    const policy = { window: '1m', algorithm: 'fixed-window' } as const
    const limiter = createLimiter({
      policies: [
        { ...policy, name: 'dead', limit: 5, backend: dead },
        { ...policy, name: 'far', limit: 1, backend: far },
      ],
      clock,
    })
    await limiter.take('key')
    expect((await limiter.take('key')).allowed).toBe(false)
    expect((await limiter.peek('key')).verdicts.map(({ remaining: left }) => left)).toEqual([4, 0])
    expect(dead.calls).toEqual(['take', 'take', 'peek'])
  })

  test('refund at the time of the take, so that no time drains twice', async () => {
    const clock = new FakeClock()
    const far = new PromisedBackend(clock)
    const limiter = createLimiter({
      policies: [
        { name: 'bucket', limit: 10, window: '10s', algorithm: 'token-bucket' },
        { name: 'far', limit: 1, window: '1h', algorithm: 'fixed-window', backend: far },
      ],
      clock,
    })
    await limiter.take('key', { bucket: 10, far: 1 })
    for (let turn = 0; turn < 20; turn++) {
      const late = limiter.take('key', { bucket: 0, far: 1 })
      clock.advance(100)
      await late
    }
    // 2 s have passed, in which two units drain
    expect((await limiter.peek('key')).verdicts[0].remaining).toBe(2)
  })
})

describe('a limiter whose only backend is asynchronous', () => {
  test('returns promises of the same decisions', async () => {
    const clock = new FakeClock()
    const limiter = createLimiter({
      policies: [{ limit: 2, window: '1m', algorithm: 'fixed-window' }],
      backend: new PromisedBackend(clock),
      clock,
    })
    const taken = await limiter.take('key', 2)
    expect(taken).toMatchObject({ allowed: true, source: 'promised', takenAt: 0 })
    expect(await limiter.take('key')).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
    await limiter.charge('key', -1, taken)
    expect((await limiter.peek('key')).allowed).toBe(true)
    await limiter.reset('key')
    expect((await limiter.peek('key')).binding.remaining).toBe(2)
  })
})

describe('a charge to a decision that was denied', () => {
  // limiter.ts matches `takenAts` with the charges by index, although a policy that was not asked has no entry: `far` is
  // charged at the reading of `near`, which uses another clock, and `near` at undefined
  test('charges every policy, asked or not, each at its own time', async () => {
    const [clock, farClock] = [new FakeClock({ nowMs: 1_000 }), new FakeClock({ nowMs: 9_999_000 })]
    const far = {
      name: 'far',
      limit: 9,
      window: '1m',
      algorithm: 'fixed-window',
      backend: new PromisedBackend(farClock),
    }
    const near = { name: 'near', limit: 2, window: '1m', algorithm: 'fixed-window', backend: memoryBackend({ clock }) }
    const limiter = createLimiter({ policies: [far, near] as never, clock }) as Limiter
    await limiter.take('key', 2)
    const denied = await limiter.take('key')
    expect(denied.verdicts.length).toBe(1)
    await limiter.charge('key', 1, denied)
    expect((await limiter.peek('key')).verdicts[0].remaining).toBe(6)
  })
})
