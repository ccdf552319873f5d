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

/** Returns the keys without takes for which units are counted nevertheless. */
function noisy(backend: Backend<Answer>, keys: readonly string[]): string[] {
  return keys.filter((key) => used(backend, key) > 0)
}

const strangers = Array.from({ length: 20_000 }, (_, n) => `stranger ${n}`)

function flood(backend: Backend<Answer>, units = 1): void {
  for (let n = 0; n < 2_000; n++) take(backend, `flood ${n}`, units)
}

describe('cells of keys', () => {
  test('are drawn again for each slot: keys that collide in one slot do not collide in the next', () => {
    const { backend, clock } = bench()
    flood(backend)
    const first = noisy(backend, strangers)
    // after a window and a slot, the units of the first flood are gone
    clock.advance(MINUTE + HALF)
    expect(noisy(backend, strangers)).toEqual([])
    flood(backend)
    const second = noisy(backend, strangers)
    const both = second.filter((key) => first.includes(key))
    expect(first.length).toBeGreaterThan(100)
    // the cells hold no units of the first flood
    expect(second.length).toBeLessThan(1.5 * first.length)
    // as many collisions as expected by chance; with the same cells, all keys would collide
    expect(both.length).toBeLessThan((3 * first.length * second.length) / strangers.length + 10)
  })

  test('are the same for the same seed in every slot, and different for another seed', () => {
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

  test('cannot be predicted without the seed: keys that collide under one seed do not collide under another', () => {
    const victim = 'victim'
    const known = bench({ seed: 'a seed that somebody guesses' }).backend
    take(known, victim, 100)
    // what an attacker finds on their own machine
    const meeting = Array.from({ length: 200_000 }, (_, n) => `forged ${n}`).filter((key) => used(known, key) > 0)
    const { backend } = bench({ seed: undefined })
    for (const key of meeting) take(backend, key)
    expect(used(backend, victim)).toBe(0)
  })
})

describe('full cells', () => {
  test('deny, and stay full whatever is refunded', () => {
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

  test('never wrap around to 0', () => {
    const { backend, clock } = bench({ cells: 8 })
    for (let charges = 0; charges < 300; charges++) {
      backend.adjustAll([chargeOf(backend, policy, 'a', 1)], clock.now())
      if (charges >= 99) expect(used(backend, 'a')).toBe(100)
    }
  })
})

describe('invalid costs and clock readings', () => {
  test('a cost above the limit never fits and is not counted, up to 2^53 - 1', () => {
    const { backend } = bench()
    for (const cost of [101, 65_536, 2 ** 32, 2 ** 53 - 1]) {
      const [{ allowed, retryAfterMs }] = backend.takeAll([chargeOf(backend, policy, 'a', cost)]).verdicts
      expect([allowed, retryAfterMs]).toEqual([false, Number.POSITIVE_INFINITY])
    }
    expect(used(backend, 'a')).toBe(0)
  })

  test('an invalid reading is replaced by the backend clock, or by the latest reading if the clock is invalid too', () => {
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
    'a clock that is set back by %d ms keeps all counts and continues',
    (ms) => {
      const { backend, clock } = bench()
      const at = (now: number): boolean =>
        backend.takeAll([chargeOf(backend, policy, 'a', 60)], { now }).verdicts[0].allowed
      const later = clock.now() + ms
      expect([at(later), at(later - ms), at(later - ms + 1)]).toEqual([true, false, false])
      // and is free once a window and a slot have passed, by the clock before or after the change
      expect(at(later + 2 * MINUTE)).toBe(true)
      if (ms > 2 * MINUTE) {
        expect(at(later - ms)).toBe(false)
        expect(at(later - ms + 2 * MINUTE)).toBe(true)
      }
    },
  )

  test('a refund or a late charge without a valid time applies now', () => {
    const { backend } = bench()
    backend.adjustAll([chargeOf(backend, policy, 'a', 9)], Number.NaN)
    backend.adjustAll([chargeOf(backend, policy, 'a', -4)], Number.NaN)
    expect(used(backend, 'a')).toBe(5)
  })
})

test('a year without traffic does not shift the slots', () => {
  const { backend, clock } = bench()
  take(backend, 'a')
  clock.advance(365 * 24 * 3_600_000 + 7_000)
  expect(backend.takeAll([chargeOf(backend, policy, 'a')]).verdicts[0].resetAfterMs).toBe(MINUTE + HALF - 7_000)
})
