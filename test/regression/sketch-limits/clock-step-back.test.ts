import { describe, expect, test } from '@jest/globals'
import type { Answer, Backend } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { chargeOf, MINUTE, policyOf } from '../../sketches/backend/charges.ts'

interface Taken {
  readonly key: string
  readonly at: number
  readonly units: number
}

// regression: units were counted in the current slot and refunded to the previous one, so that other keys were counted
// too low
describe('a refund after a clock stepped back takes nothing from other keys', () => {
  test.each([2, 6])('%d slots, full of keys that share cells', (slots) =>
    eachSeed(3, (random, seed) => {
      const policy = policyOf({ limit: 60_000, slices: slots })
      const backend = sketchBackend({
        bytes: 65_536,
        slots,
        clock: new FakeClock(),
        seed: `sixteen secret bytes ${seed}`,
      })
      const held = new Map<string, number>()
      const taken: Taken[] = []
      let now = 1_000
      const take = (key: string, units: number): void => {
        const { verdicts, takenAt } = backend.takeAll([chargeOf(backend, policy, key, units)], { now })
        if (!verdicts[0].allowed) return
        held.set(key, (held.get(key) ?? 0) + units)
        taken.push({ key, at: takenAt, units })
      }
      for (let step = 0; step < 12_000; step++) {
        const what = random.whole(100)
        if (what < 60) take(`key ${random.whole(2_000)}`, 1 + random.whole(5))
        else if (what < 90)
          giveBack(backend, random, taken, held, (key, cost) => chargeOf(backend, policy, key, cost), now)
        // never a whole window at once, so that all of it still counts
        else now = Math.min(50_000, Math.max(1_000, now + random.whole(2_000) - 900))
      }
      const counted = (key: string): number =>
        policy.limit - backend.peekAll([chargeOf(backend, policy, key)], { now }).verdicts[0].remaining
      const tooLow = [...held].filter(([key, units]) => counted(key) < units)
      expect(tooLow).toEqual([])
    }),
  )
})

function giveBack(
  backend: Backend<Answer>,
  random: SeededRandom,
  taken: Taken[],
  held: Map<string, number>,
  charge: (key: string, cost: number) => ReturnType<typeof chargeOf>,
  now: number,
): void {
  const [back] = taken.splice(random.whole(taken.length), 1)
  if (!back) return
  backend.adjustAll([charge(back.key, -back.units)], back.at, { now })
  held.set(back.key, (held.get(back.key) ?? 0) - back.units)
}

// regression: it returned the end of the clock's current window, and the units were in the next one
test('the reset time of a fixed window belongs to the window that has the units', () => {
  const policy = policyOf({ algorithm: 'fixed-window', limit: 2 })
  const backend = sketchBackend({ clock: new FakeClock() })
  const at = (now: number) => backend.peekAll([chargeOf(backend, policy, 'a')], { now }).verdicts[0]
  backend.takeAll([chargeOf(backend, policy, 'b')], { now: 0 })
  backend.takeAll([chargeOf(backend, policy, 'a', 2)], { now: MINUTE + 1_000 })
  expect(at(MINUTE - 1_000)).toMatchObject({
    allowed: false,
    resetAfterMs: MINUTE + 1_000,
    retryAfterMs: MINUTE + 1_000,
  })
  expect(at(2 * MINUTE)).toMatchObject({ allowed: true, resetAfterMs: 0 })
})
