import { describe, expect, test } from '@jest/globals'
import type { Answer, Backend } from '@sluice/limiter-core'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'
import { chargeOf, MINUTE, policyOf } from './charges.ts'

const policy = policyOf({ limit: 100 })
const SEED = 'sixteen secret bytes'
const HALF = MINUTE / 2

function bench(options: SketchBackendOptions = {}): { backend: Backend<Answer>; clock: FakeClock } {
  const clock = new FakeClock({ nowMs: 1_000 })
  return { backend: sketchBackend({ bytes: 65_536, seed: SEED, ...options, clock }), clock }
}

function take(backend: Backend<Answer>, key: string, cost = 1): boolean {
  return backend.takeAll([chargeOf(backend, policy, key, cost)]).verdicts[0].allowed
}

function used(backend: Backend<Answer>, key: string): number {
  return policy.limit - backend.peekAll([chargeOf(backend, policy, key)]).verdicts[0].remaining
}

/** Of keys that nobody has taken from, those for which something is counted. */
function noisy(backend: Backend<Answer>, keys: readonly string[]): string[] {
  return keys.filter((key) => used(backend, key) > 0)
}

const strangers = Array.from({ length: 20_000 }, (_, n) => `stranger ${n}`)

function flood(backend: Backend<Answer>, units = 1): void {
  for (let n = 0; n < 2_000; n++) take(backend, `flood ${n}`, units)
}

describe('places of keys', () => {
  test('are drawn anew for each slot: who meets the others in one does not in the next', () => {
    const { backend, clock } = bench()
    flood(backend)
    const first = noisy(backend, strangers)
    // a whole window and a slot: nothing of the first flood is left
    clock.advance(MINUTE + HALF)
    expect(noisy(backend, strangers)).toEqual([])
    flood(backend)
    const second = noisy(backend, strangers)
    const both = second.filter((key) => first.includes(key))
    expect(first.length).toBeGreaterThan(100)
    // nothing of the first flood is left in the cells
    expect(second.length).toBeLessThan(1.5 * first.length)
    // as many as chance gives, where the same places would give all of them
    expect(both.length).toBeLessThan((3 * first.length * second.length) / strangers.length + 10)
  })

  test('are the same for the same seed, slot after slot, and others for another', () => {
    const seen = [SEED, SEED, 'another sixteen bytes', undefined].map((seed) => {
      const { backend, clock } = bench({ seed })
      flood(backend)
      const first = noisy(backend, strangers)
      clock.advance(2 * MINUTE)
      flood(backend)
      return JSON.stringify([first, noisy(backend, strangers)])
    })
    expect(seen[1]).toBe(seen[0])
    expect(new Set(seen).size).toBe(3)
  })

  test('cannot be found by who knows the code and not the seed: keys that meet under one seed do not under another', () => {
    const victim = 'victim'
    const known = bench({ seed: 'a seed that somebody guesses' }).backend
    take(known, victim, 100)
    // what an attacker finds on a machine of his own
    const meeting = Array.from({ length: 200_000 }, (_, n) => `forged ${n}`).filter((key) => used(known, key) > 0)
    const { backend } = bench({ seed: undefined })
    for (const key of meeting) take(backend, key)
    expect(used(backend, victim)).toBe(0)
  })
})

describe('cells that are full', () => {
  test('deny, and stay full whatever is given back', () => {
    const { backend, clock } = bench({ cells: 8 })
    backend.adjustAll([chargeOf(backend, policy, 'a', 2 ** 53 - 1)], clock.now())
    backend.adjustAll([chargeOf(backend, policy, 'a', -(2 ** 53 - 1))], clock.now())
    expect(take(backend, 'a')).toBe(false)
    const [{ retryAfterMs }] = backend.peekAll([chargeOf(backend, policy, 'a')]).verdicts
    clock.advance(retryAfterMs - 1)
    expect(take(backend, 'a')).toBe(false)
    clock.advance(1)
    expect(take(backend, 'a')).toBe(true)
  })

  test('never begin again at 0', () => {
    const { backend, clock } = bench({ cells: 8 })
    for (let charges = 0; charges < 300; charges++) {
      backend.adjustAll([chargeOf(backend, policy, 'a', 1)], clock.now())
      if (charges >= 99) expect(used(backend, 'a')).toBe(100)
    }
  })
})

describe('costs and readings that are none', () => {
  test('a cost above the limit never fits and counts nothing, up to 2^53 - 1', () => {
    const { backend } = bench()
    for (const cost of [101, 65_536, 2 ** 32, 2 ** 53 - 1]) {
      const [{ allowed, retryAfterMs }] = backend.takeAll([chargeOf(backend, policy, 'a', cost)]).verdicts
      expect([allowed, retryAfterMs]).toEqual([false, Number.POSITIVE_INFINITY])
    }
    expect(used(backend, 'a')).toBe(0)
  })

  test('a reading that is no number is that of its own clock, and else the latest', () => {
    const { backend, clock } = bench()
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY, -Number.POSITIVE_INFINITY, 2 ** 60]) {
      expect(backend.takeAll([chargeOf(backend, policy, 'a')], { now }).takenAt).toBe(1_000)
    }
    let reading = 5_000
    const broken = sketchBackend({ clock: { ...clock, now: () => reading, wall: () => 0, after: () => () => {} } })
    broken.takeAll([chargeOf(broken, policy, 'a')])
    reading = Number.NaN
    expect(broken.takeAll([chargeOf(broken, policy, 'a')]).takenAt).toBe(5_000)
    expect(used(broken, 'a')).toBe(2)
  })

  test.each([1, 20_000, 10 * MINUTE, 2 ** 50])(
    'a clock that is set back by %d ms forgets nothing, and goes on',
    (ms) => {
      const { backend, clock } = bench()
      const at = (now: number): boolean =>
        backend.takeAll([chargeOf(backend, policy, 'a', 60)], { now }).verdicts[0].allowed
      const later = clock.now() + ms
      expect([at(later), at(later - ms), at(later - ms + 1)]).toEqual([true, false, false])
      // and is free once a window and a slot have passed by the clock as it is now, or as it was
      expect(at(later + 2 * MINUTE)).toBe(true)
      if (ms > 2 * MINUTE) {
        expect(at(later - ms)).toBe(false)
        expect(at(later - ms + 2 * MINUTE)).toBe(true)
      }
    },
  )

  test('a refund or a charge at no time is one now', () => {
    const { backend } = bench()
    backend.adjustAll([chargeOf(backend, policy, 'a', 9)], Number.NaN)
    backend.adjustAll([chargeOf(backend, policy, 'a', -4)], Number.NaN)
    expect(used(backend, 'a')).toBe(5)
  })
})

test('a quiet year shifts no slot', () => {
  const { backend, clock } = bench()
  take(backend, 'a')
  clock.advance(365 * 24 * 3_600_000 + 7_000)
  expect(backend.takeAll([chargeOf(backend, policy, 'a')]).verdicts[0].resetAfterMs).toBe(MINUTE + HALF - 7_000)
})
