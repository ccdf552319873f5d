import { describe, expect, test } from '@jest/globals'
import type { Backend, Charge, Policy } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { chargeOf } from './charges.ts'

const SECOND = 1_000
const KEYS = ['a', 'b', 'c'] as const
// a typical set of windows: a short burst, a minute, an uneven one, an hour
const policies: readonly Policy[] = [
  { name: 'burst', algorithm: 'sliding-window', limit: 12, windowMs: 5 * SECOND, slices: 2 },
  { name: 'minute', algorithm: 'sliding-window', limit: 40, windowMs: 60 * SECOND, slices: 2 },
  { name: 'odd', algorithm: 'sliding-window', limit: 150, windowMs: 777 * SECOND, slices: 2 },
  { name: 'hour', algorithm: 'sliding-window', limit: 400, windowMs: 3_600 * SECOND, slices: 2 },
]

describe('windows of different lengths over one history', () => {
  test.each([
    ['wide', 4 * 2 ** 20, 0],
    ['full of other keys', 2 ** 18, 200],
  ])('never count a key too low: %s', (_name, bytes, floodAStep) =>
    eachSeed(2, (random, seed) => {
      const clock = new FakeClock({ nowMs: 1_234.5 })
      const backend = sketchBackend({
        clock,
        bytes,
        history: { unit: '1s', keep: '1h' },
        seed: `a secret of tests ${seed}`,
      })
      const truth = new Map<string, [at: number, units: number][]>()
      for (let round = 0; round < 150; round++) {
        clock.advance(random.pick([0, 10, SECOND, random.whole(10 * SECOND), random.whole(20) === 0 ? 9e6 : 1]))
        for (let flood = 0; flood < floodAStep; flood++)
          backend.takeAll([chargeOf(backend, random.pick(policies), `f${round}-${flood}`)])
        const charges = someCharges(backend, random)
        const { verdicts } = backend.takeAll(charges)
        const allowed = verdicts.every((verdict) => verdict.allowed)
        for (const [index, charge] of charges.entries()) {
          const taken = takenOf(truth, charge)
          const since = clock.now() - charge.counter.compiled.policy.windowMs
          const inWindow = taken.reduce((sum, [at, units]) => sum + (at > since ? units : 0), 0)
          const count = {
            policy: charge.counter.compiled.policy.name,
            inWindow: inWindow + (allowed ? charge.cost : 0),
          }
          expect(verdicts[index].remaining).toBeLessThanOrEqual(charge.counter.compiled.policy.limit - count.inWindow)
          expect(count.inWindow).toBeLessThanOrEqual(charge.counter.compiled.policy.limit)
          if (allowed) taken.push([clock.now(), charge.cost])
        }
      }
    }),
  )

  test('admit a denied request after its retryAfterMs, if no other keys collide', () => {
    const clock = new FakeClock({ nowMs: 500 })
    const backend = sketchBackend({ clock, history: { unit: '1s', keep: '1h' }, seed: 'sixteen secret bytes' })
    for (const policy of policies) {
      for (let round = 0; round < 30; round++) {
        const [{ allowed, retryAfterMs }] = backend.takeAll([chargeOf(backend, policy, 'a', 7)]).verdicts
        clock.advance(allowed ? 300 : retryAfterMs)
        if (!allowed) expect(backend.peekAll([chargeOf(backend, policy, 'a', 7)]).verdicts[0].allowed).toBe(true)
      }
    }
  })

  test('forget older takes: a key is free again after one and a half windows', () => {
    for (const policy of policies) {
      const clock = new FakeClock()
      const backend = sketchBackend({ clock, history: { unit: '1s', keep: '1h' } })
      backend.takeAll([chargeOf(backend, policy, 'a', policy.limit)])
      clock.advance(policy.windowMs)
      expect(backend.peekAll([chargeOf(backend, policy, 'a')]).verdicts[0].remaining).toBe(0)
      clock.advance(policy.windowMs / 2 + 2 * SECOND)
      expect(backend.peekAll([chargeOf(backend, policy, 'a')]).verdicts[0].remaining).toBe(policy.limit)
    }
  })

  test('keep their counts and continue if the clock is set back', () => {
    const clock = new FakeClock()
    const backend = sketchBackend({ clock, history: { unit: '1s', keep: '1m' } })
    const [, minute] = policies
    const at = (now: number): boolean =>
      backend.takeAll([chargeOf(backend, minute, 'a', 30)], { now }).verdicts[0].allowed
    for (const far of [2 ** 40, 2 ** 52 + 2, 2 ** 53 - 1]) {
      expect([at(far), at(far - 90_000), at(5_000)]).toEqual([true, false, false])
      expect(at(5_000 + 200_000)).toBe(true)
      expect(at(5_000 + 400_000)).toBe(true)
    }
  })
})

function someCharges(backend: Backend, random: SeededRandom): Charge[] {
  const key = random.pick(KEYS)
  const chosen = policies.filter(() => random.whole(2) === 0)
  return (chosen.length > 0 ? chosen : policies).map((policy) => chargeOf(backend, policy, key, 1 + random.whole(5)))
}

function takenOf(truth: Map<string, [number, number][]>, { key, counter }: Charge): [number, number][] {
  const name = `${counter.name} ${key}`
  const taken = truth.get(name) ?? []
  truth.set(name, taken)
  return taken
}
