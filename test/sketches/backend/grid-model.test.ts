import { describe, expect, test } from '@jest/globals'
import type { Answer, Backend, Charge, Policy } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock, randomCommand, type SeededRandom } from '@sluice/testkit'
import { chargeOf, MINUTE, plain, policyOf } from './charges.ts'
import { GridModel } from './grid-model.ts'

const RUNS = 20
const DEEDS = 60
const beside = policyOf({ name: 'beside', algorithm: 'fixed-window', limit: 12 })

const shapes = [1, 2, 3, 5].flatMap((slots) => [
  { slots, policy: policyOf({ limit: 1 }) },
  { slots, policy: policyOf({ limit: 7 }) },
  { slots, policy: policyOf({ limit: 1_000 }) },
  { slots, policy: policyOf({ limit: 7, algorithm: 'fixed-window' }) },
  ...(slots > 1 ? [{ slots, policy: policyOf({ limit: 50, slices: slots }) }] : []),
])

describe('a wide sketchBackend answers like exact counts', () => {
  test.each(shapes)('$slots slots, $policy.name', ({ slots, policy }) =>
    eachSeed(RUNS, (random) => {
      const clock = new FakeClock({ nowMs: random.pick([0, 1_000, 12_345.5]) })
      // cells drawn from a fixed seed: a collision with a chance of 2^-50 would be the same in every run
      const backend = sketchBackend({ clock, slots, seed: 'sixteen secret bytes' })
      sameAsModel(backend, clock, policy, slots, random)
    }),
  )
})

function sameAsModel(backend: Backend<Answer>, clock: FakeClock, policy: Policy, slots: number, random: SeededRandom) {
  const model = new GridModel(MINUTE, slots)
  const taken: { charges: readonly Charge[]; at: number }[] = []
  for (let done = 0; done < DEEDS; done++) {
    const deed = randomCommand(random, policy, true)
    const about = `deed ${done} ${JSON.stringify(deed)} at ${clock.now()}`
    if (deed.kind === 'wait') {
      clock.advance(deed.ms)
      continue
    }
    if (deed.kind === 'adjust') {
      const take = taken[Math.min(deed.back, taken.length - 1)]
      if (!take) continue
      const moved = take.charges.map((charge) => ({ ...charge, cost: deed.units }))
      const got = backend.adjustAll(moved, take.at)
      expect({ about, got: plain(got.verdicts) }).toEqual({
        about,
        got: plain(model.adjust(moved, take.at, clock.now())),
      })
      continue
    }
    const charges = someCharges(backend, random, policy, deed.cost)
    const got = backend[deed.kind === 'take' ? 'takeAll' : 'peekAll'](charges)
    expect({ about, got: plain(got.verdicts) }).toEqual({ about, got: plain(model[deed.kind](charges, clock.now())) })
    if (deed.kind === 'take') taken.unshift({ charges, at: clock.now() })
  }
}

function someCharges(backend: Backend, random: SeededRandom, policy: Policy, cost: number): Charge[] {
  const first = chargeOf(backend, policy, random.pick(['a', 'b']), cost, random.whole(4) === 0)
  if (random.whole(2) === 0) return [first]
  const second = chargeOf(backend, beside, random.pick(['a', 'b']), random.whole(4), random.whole(3) === 0)
  return random.pick([
    [first, second],
    [second, first],
    [first, first],
  ])
}
