import { describe, expect, test } from '@jest/globals'
import type { Answer, Backend, Charge, Policy } from '@sluice/limiter-core'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { chargeOf, MINUTE, policyOf } from './charges.ts'
import { GridModel } from './grid-model.ts'

const KEYS = ['a', 'b', 'c'] as const
const NOISE_A_STEP = 800

const shapes: readonly (readonly [string, SketchBackendOptions, Policy])[] = [
  ['linear', {}, policyOf({ limit: 200 })],
  ['linear, whole slots', { slots: 3 }, policyOf({ limit: 200, slices: 3 })],
  ['linear, fixed window', {}, policyOf({ limit: 200, algorithm: 'fixed-window' })],
  ['conservative', { conservative: true }, policyOf({ limit: 200 })],
  ['conservative, whole slots', { conservative: true, slots: 3 }, policyOf({ limit: 200, slices: 3 })],
  ['8 bits that fill up', { cells: 8 }, policyOf({ limit: 254 })],
]

/** An admitted take of a key. Some of its units may be refunded. */
interface Taken {
  readonly charge: Charge
  readonly at: number
  left: number
}

describe('a sketchBackend full of other keys never counts a key too low', () => {
  test.each(shapes)('%s', (_name, options, policy) =>
    eachSeed(2, (random, seed) => {
      const clock = new FakeClock({ nowMs: 1_000 })
      const backend = sketchBackend({ ...options, clock, bytes: 65_536, seed: `sixteen secret bytes ${seed}` })
      const scene = new Scene(backend, clock, new GridModel(MINUTE, options.slots ?? 2), policy)
      let noisy = 0
      for (let round = 0; round < 60; round++) noisy += scene.step(random)
      // otherwise the test would not exercise any noise
      expect(noisy).toBeGreaterThan(10)
      scene.expectExactRetry()
    }),
  )
})

class Scene {
  readonly #taken: Taken[] = []
  #flooded = 0
  readonly #backend: Backend<Answer>
  readonly #clock: FakeClock
  readonly #model: GridModel
  readonly #policy: Policy

  constructor(backend: Backend<Answer>, clock: FakeClock, model: GridModel, policy: Policy) {
    this.#backend = backend
    this.#clock = clock
    this.#model = model
    this.#policy = policy
  }

  /** Runs a random step and returns for how many keys noise was observed. */
  step(random: SeededRandom): number {
    for (let flood = 0; flood < NOISE_A_STEP; flood++) {
      const charge = chargeOf(this.#backend, this.#policy, `flood ${this.#flooded++}`, 1 + random.whole(3))
      if (this.#backend.takeAll([charge]).verdicts[0].allowed) this.#count(charge, random)
    }
    const key = random.pick(KEYS)
    random.pick([
      () => this.#clock.advance(random.pick([0, 1, 7_000.5, random.whole(MINUTE)])),
      () => this.#clock.advance(random.pick([MINUTE / 2, 20_000, 10 * MINUTE])),
      () => this.#take(key, random),
      () => this.#take(key, random),
      () => this.#refund(random),
      () => this.#lateCharge(random),
      () => this.#reset(key),
    ])()
    return KEYS.filter((one) => this.#isNoisy(one)).length
  }

  /**
   * Checks that a denied cost is admitted exactly at its `retryAfterMs`, and not one ms earlier, if there is no other
   * traffic.
   */
  expectExactRetry(): void {
    for (const cost of [this.#policy.limit, Math.ceil(this.#policy.limit / 2)]) {
      for (let flood = 0; flood < 2_000; flood++)
        this.#backend.takeAll([chargeOf(this.#backend, this.#policy, `flood ${flood}`, 3)])
      const verdict = () => this.#backend.peekAll([chargeOf(this.#backend, this.#policy, 'a', cost)]).verdicts[0]
      if (verdict().allowed)
        this.#backend.adjustAll([chargeOf(this.#backend, this.#policy, 'a', this.#policy.limit)], this.#clock.now())
      const { retryAfterMs } = verdict()
      this.#clock.advance(retryAfterMs - 1)
      expect(verdict().retryAfterMs).toBe(1)
      this.#clock.advance(1)
      expect(verdict().allowed).toBe(true)
    }
  }

  #take(key: string, random: SeededRandom): void {
    const charge = chargeOf(this.#backend, this.#policy, key, 1 + random.whole(40))
    const [{ allowed }] = this.#backend.takeAll([charge]).verdicts
    const [exact] = this.#model.peek([charge], this.#clock.now())
    // an admitted take is also admitted by exact counts
    expect(exact.allowed || !allowed).toBe(true)
    if (allowed) this.#count(charge, random)
  }

  #count(charge: Charge, random: SeededRandom): void {
    this.#model.count(charge, this.#clock.now(), charge.cost)
    if (random.whole(4) === 0) this.#taken.push({ charge, at: this.#clock.now(), left: charge.cost })
  }

  /** Refunds a part of each recorded take, once. */
  #refund(random: SeededRandom): void {
    for (const taken of this.#taken.splice(0, 200)) {
      const units = 1 + random.whole(taken.left)
      const refund = { ...taken.charge, cost: -units }
      this.#backend.adjustAll([refund], taken.at)
      this.#model.count(refund, taken.at, -units)
    }
  }

  #lateCharge(random: SeededRandom): void {
    const taken = random.pick(this.#taken)
    if (!taken) return
    const late = { ...taken.charge, cost: 1 + random.whole(30) }
    this.#backend.adjustAll([late], taken.at)
    this.#model.adjust([late], taken.at, this.#clock.now())
  }

  #reset(key: string): void {
    const charge = chargeOf(this.#backend, this.#policy, key)
    this.#backend.resetAll([charge])
    this.#model.forget(charge)
    // refunding a take from before the reset would reduce later takes
    this.#taken.splice(0, this.#taken.length, ...this.#taken.filter((taken) => taken.charge.key !== key))
  }

  #isNoisy(key: string): boolean {
    const charge = chargeOf(this.#backend, this.#policy, key, 10)
    const [got] = this.#backend.peekAll([charge]).verdicts
    const [exact] = this.#model.peek([charge], this.#clock.now())
    const about = JSON.stringify({ key, got, exact })
    expect({ about, tooMuch: got.remaining > exact.remaining }).toEqual({ about, tooMuch: false })
    expect({ about, tooSoon: got.retryAfterMs < exact.retryAfterMs }).toEqual({ about, tooSoon: false })
    expect({ about, tooSoon: got.resetAfterMs < exact.resetAfterMs }).toEqual({ about, tooSoon: false })
    return got.remaining < exact.remaining
  }
}
