import { expect, test } from '@jest/globals'
import type { PolicyInput } from '@sluice/limiter-core'
import { eachSeed } from '@sluice/testkit'
import { GossipFleet } from './gossip-fleet.ts'
import { limitedReplica } from './gossip-limits.ts'

const WINDOW_MS = 12_000

/** Units of a key by slot, counted from the start of the fleet. */
class SlotModel {
  readonly #units = new Map<number, number>()
  readonly #slotMs: number
  readonly #startedAt: number

  constructor(slotMs: number, startedAt: number) {
    this.#slotMs = slotMs
    this.#startedAt = startedAt
  }

  take(now: number, units: number): void {
    const slot = this.#slotOf(now)
    this.#units.set(slot, (this.#units.get(slot) ?? 0) + units)
  }

  used(now: number, slots: number): number {
    let used = 0
    for (let age = 0; age < slots; age++) used += this.#units.get(this.#slotOf(now) - age) ?? 0
    return used
  }

  #slotOf(now: number): number {
    return Math.floor((now - this.#startedAt) / this.#slotMs)
  }
}

const policies: readonly (readonly [PolicyInput, number])[] = [
  [{ name: 'api', limit: 100, window: WINDOW_MS, algorithm: 'fixed-window' }, 1],
  [{ name: 'api', limit: 100, window: WINDOW_MS, algorithm: 'sliding-window', slices: 6 }, 7],
]

test.each(policies)(
  'the remaining units are the limit minus the units of all replicas in the current slots: %j',
  (policy, slots) =>
    eachSeed(5, async (random) => {
      const fleet = new GossipFleet(random)
      const startedAt = fleet.clock.now()
      const replicas = Array.from({ length: 3 }, () => limitedReplica(fleet, policy, { floor: 0 }))
      await fleet.run(2_000)
      const model = new SlotModel(slots === 1 ? WINDOW_MS : WINDOW_MS / 6, startedAt)
      for (let n = 0; n < 40; n++) {
        const { limiter } = random.pick(replicas)
        const units = 1 + random.whole(10)
        const from = fleet.clock.now()
        const before = model.used(from, slots)
        expect(limiter.take('a', units).allowed).toBe(before + units <= 100)
        if (before + units <= 100) model.take(from, units)
        // until all replicas have received the counts
        await fleet.run(1_000 + 10 * random.whole(200))
        for (const one of replicas) one.limiter.take('a', 101)
        await fleet.run(100)
        const now = fleet.clock.now()
        for (const one of replicas) expect(one.limiter.peek('a').binding.remaining).toBe(100 - model.used(now, slots))
      }
      await fleet.stop()
    }),
)
