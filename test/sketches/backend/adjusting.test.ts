import { describe, expect, test } from '@jest/globals'
import { type Answer, type Backend, createLimiter, type Observer } from '@sluice/limiter-core'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'
import { chargeOf, MINUTE, policyOf } from './charges.ts'

const policy = policyOf({ limit: 10 })
const HISTORY: SketchBackendOptions = { history: { unit: '1s', keep: '1m' } }

interface Bench {
  readonly backend: Backend<Answer>
  readonly clock: FakeClock
  readonly reported: unknown[]
}

function bench(options: SketchBackendOptions = {}): Bench {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = sketchBackend({ ...options, clock, seed: 'sixteen secret bytes' })
  const reported: unknown[] = []
  backend.observe?.({ event: (name, data) => reported.push([name, data]) } satisfies Observer)
  return { backend, clock, reported }
}

function take({ backend }: Bench, key: string, cost: number): number {
  const { verdicts, takenAt } = backend.takeAll([chargeOf(backend, policy, key, cost)])
  expect(verdicts[0].allowed).toBe(true)
  return takenAt
}

function adjust({ backend }: Bench, key: string, units: number, takenAt: number): void {
  backend.adjustAll([chargeOf(backend, policy, key, units)], takenAt)
}

function remaining({ backend }: Bench, key: string): number {
  return backend.peekAll([chargeOf(backend, policy, key)]).verdicts[0].remaining
}

describe('a refund', () => {
  test('changes only the slot of its take', () => {
    const scene = bench()
    const first = take(scene, 'a', 4)
    scene.clock.advance(MINUTE / 2)
    take(scene, 'a', 3)
    adjust(scene, 'a', -9, first)
    expect(remaining(scene, 'a')).toBe(7)
  })

  test('larger than the take releases at most the units counted for the key', () => {
    const scene = bench({ bytes: 65_536 })
    const now = scene.clock.now()
    for (let key = 0; key < 1_500; key++) adjust(scene, `other ${key}`, 5, now)
    for (let key = 0; key < 1_500; key++) {
      adjust(scene, `key ${key}`, 1, now)
      // with noise, the units of the key cannot be reported apart from the units of other keys
      if (remaining(scene, `key ${key}`) === 9) adjust(scene, `key ${key}`, -50, now)
    }
    for (let key = 0; key < 1_500; key++) expect(remaining(scene, `other ${key}`)).toBeLessThanOrEqual(5)
  })

  test('for an expired slot is ignored', () => {
    const scene = bench()
    const first = take(scene, 'a', 4)
    scene.clock.advance(2 * MINUTE)
    take(scene, 'a', 3)
    adjust(scene, 'a', -3, first)
    expect(remaining(scene, 'a')).toBe(7)
  })

  test.each([
    ['conservative', { conservative: true }],
    ['with a history', HISTORY],
  ])('is ignored and reported as a late charge if counts cannot be decreased: %s', (_name, options) => {
    const scene = bench(options)
    const takenAt = take(scene, 'a', 4)
    adjust(scene, 'a', -1, takenAt)
    adjust(scene, 'a', -2, takenAt)
    expect(remaining(scene, 'a')).toBe(6)
    expect(scene.reported).toEqual([['lateCharge', { policy: policy.name, key: 'a', units: -1 }]])
  })
})

describe('a late charge', () => {
  test('is counted in the slot of its take', () => {
    const scene = bench()
    const first = take(scene, 'a', 1)
    scene.clock.advance(MINUTE / 2)
    adjust(scene, 'a', 6, first)
    expect(remaining(scene, 'a')).toBe(3)
    // half of the oldest slot is outside of the window
    scene.clock.advance((3 * MINUTE) / 4)
    expect(remaining(scene, 'a')).toBe(6)
    expect(scene.reported).toEqual([])
  })

  test('for an expired slot is ignored and reported', () => {
    const scene = bench()
    const first = take(scene, 'a', 1)
    scene.clock.advance(2 * MINUTE)
    adjust(scene, 'a', 6, first)
    expect(remaining(scene, 'a')).toBe(10)
    expect(scene.reported).toEqual([['lateCharge', { policy: policy.name, key: 'a', units: 6 }]])
  })
})

describe('a reset', () => {
  test.each([
    ['linear', {}],
    ['conservative', { conservative: true }],
    ['with a history', HISTORY],
  ])('starts a key at zero with exact counts, and changes no other keys: %s', (_name, options) => {
    const scene = bench({ ...options, bytes: options === HISTORY ? 4 * 2 ** 20 : 65_536 })
    // adjust instead of take, since noise would deny some takes
    for (let key = 0; key < 3_000; key++) adjust(scene, `other ${key}`, 1 + (key % 10), scene.clock.now())
    for (let key = 0; key < 20; key++) scene.backend.resetAll([chargeOf(scene.backend, policy, `other ${key}`)])
    for (let key = 0; key < 20; key++) {
      expect(scene.backend.peekAll([chargeOf(scene.backend, policy, `other ${key}`)]).verdicts[0].resetAfterMs).toBe(0)
      take(scene, `other ${key}`, 4)
      expect(remaining(scene, `other ${key}`)).toBe(6)
    }
    for (let key = 20; key < 3_000; key++) expect(remaining(scene, `other ${key}`)).toBeLessThanOrEqual(9 - (key % 10))
  })

  test('allows at most one extra limit', () => {
    const scene = bench()
    take(scene, 'a', 10)
    scene.backend.resetAll([chargeOf(scene.backend, policy, 'a')])
    take(scene, 'a', 10)
    const [{ retryAfterMs }] = scene.backend.takeAll([chargeOf(scene.backend, policy, 'a')]).verdicts
    expect(retryAfterMs).toBeGreaterThan(MINUTE)
    scene.clock.advance(retryAfterMs)
    take(scene, 'a', 1)
  })

  test('makes earlier takes impossible to refund', () => {
    const scene = bench()
    const before = take(scene, 'a', 6)
    scene.clock.advance(10)
    scene.backend.resetAll([chargeOf(scene.backend, policy, 'a')])
    take(scene, 'a', 3)
    adjust(scene, 'a', -6, before)
    expect(remaining(scene, 'a')).toBe(7)
  })

  test('is stored for a bounded number of keys, and the oldest resets are dropped first', () => {
    const scene = bench({ bytes: 65_536 })
    for (let key = 0; key < 500; key++) take(scene, `key ${key}`, 10)
    for (let key = 0; key < 500; key++) {
      scene.clock.advance(0.5)
      scene.backend.resetAll([chargeOf(scene.backend, policy, `key ${key}`)])
    }
    const free = Array.from({ length: 500 }, (_, key) => remaining(scene, `key ${key}`))
    expect(free[499]).toBe(10)
    expect(free.filter((left) => left === 10).length).toBeLessThanOrEqual(64)
    expect(free.filter((left) => left === 10).length).toBeGreaterThan(32)
  })
})

test('known usage from the caller counts until its slot expires, which can be longer than its resetAfterMs', () => {
  const scene = bench()
  const known = { ...chargeOf(scene.backend, policy, 'a'), known: { used: 9, resetAfterMs: 5_000 } }
  expect(scene.backend.takeAll([known]).verdicts[0].remaining).toBe(0)
  scene.clock.advance(5_000)
  expect(remaining(scene, 'a')).toBe(0)
  for (const resetAfterMs of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0]) {
    scene.backend.takeAll([{ ...chargeOf(scene.backend, policy, 'b', 0), known: { used: 9, resetAfterMs } }])
  }
  expect(remaining(scene, 'b')).toBe(10)
})

test('several charges of one key and counter in one call are checked against the same counts, and all are taken', () => {
  const { backend } = bench()
  const charge = chargeOf(backend, policy, 'a', 6)
  const { verdicts } = backend.takeAll([charge, charge])
  expect(verdicts.map(({ allowed, remaining: left }) => [allowed, left])).toEqual([
    [true, 4],
    [true, 0],
  ])
})

test('counters with different names are separate, even for a key that equals a counter name', () => {
  const clock = new FakeClock()
  const backend = sketchBackend({ clock })
  const policies = [{ name: 'one', limit: 5, window: '1m' } as const]
  const [shop, blog] = ['shop', 'blog'].map((scope) => createLimiter({ policies, backend, scope }))
  for (const key of ['a', 'shop/one/sliding-window@1', '']) {
    shop.take(key, 5)
    expect([shop.peek(key).allowed, blog.peek(key).allowed]).toEqual([false, true])
  }
})
