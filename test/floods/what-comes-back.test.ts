import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter } from '@sluice/limiter-core'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { capacityOf, everyAlgorithm, KIB, type Scene, scene } from './scene.ts'

const LIMIT = 100
const HALF = LIMIT / 2
const WINDOW_MS = 3_600_000
const MINUTE_MS = 60_000
const OFFSETS = Array.from({ length: 26 }, (_, index) => (index * WINDOW_MS) / 12 + (index % 3))

/** Keys that spend less than half go into no tail; the others cloud one another before long. */
const FLOODS = [
  { scope: 'light', cost: HALF - 1, window: MINUTE_MS },
  // of keys that spent all, the one goes first that is free first
  { scope: 'heavy', cost: LIMIT, window: 2 * WINDOW_MS },
  { scope: 'heavier', cost: LIMIT, window: 2 * WINDOW_MS },
] as const

/** A client, and policies beside it whose keys displace it, and are remembered in other tails than its own. */
class Displacer {
  readonly limiter: Limiter<Decision>
  readonly #scene: Scene
  readonly #floods: readonly (readonly [Limiter<Decision>, number])[]
  readonly #keys: number
  #flooded = 0

  constructor(algorithm: (typeof everyAlgorithm)[number]) {
    const policy = { algorithm, limit: LIMIT, window: WINDOW_MS } as const
    this.#scene = scene([policy], 64 * KIB)
    this.limiter = this.#scene.limiter
    // the first count has the first tail
    this.remaining()
    const { backend, clock } = this.#scene
    this.#floods = FLOODS.map(({ scope, cost, window }) => {
      const policies = [{ ...policy, window }] as const
      return [createLimiter({ policies, backend, clock, scope }), cost] as const
    })
    this.#keys = capacityOf(policy, 64 * KIB)
  }

  advance(ms: number): void {
    this.#scene.clock.advance(ms)
  }

  take(units: number): void {
    this.limiter.take('client', units)
  }

  evict(): void {
    for (const [flood, cost] of this.#floods) {
      for (let key = 0; key < this.#keys; key++) flood.take(`flood-${this.#flooded++}`, cost)
    }
  }

  /** What the client could take from now on, if it did nothing until then. */
  remaining(): number[] {
    const now = this.#scene.clock.now()
    return OFFSETS.map((ms) => this.limiter.peek('client', 0, { now: now + ms }).verdicts[0].remaining)
  }
}

describe.each(everyAlgorithm)(
  '%s: a client that is displaced, comes back, spends and is displaced again',
  (algorithm) => {
    const seed = baseSeed()

    test(`is forgotten half a limit of each time, now and at any time to come (seed ${seed})`, () => {
      const random = seededRandom(seed)
      const client = new Displacer(algorithm)
      let forgotten = 0
      for (let round = 0; round < 40; round++) {
        client.advance(2 * MINUTE_MS + random.whole(random.pick([MINUTE_MS, WINDOW_MS / 4, 2 * WINDOW_MS])))
        for (let takes = random.whole(4); takes >= 0; takes--) client.take(1 + random.whole(random.pick([10, LIMIT])))
        const before = client.remaining()
        client.evict()
        client.remaining().forEach((after, index) => {
          const more = after - before[index]
          forgotten = Math.max(forgotten, more)
          expect({ round, ms: OFFSETS[index], more, tooMuch: more > HALF }).toMatchObject({ tooMuch: false })
        })
      }
      expect(forgotten).toBeGreaterThan(0)
    })

    test('is remembered for what it spent just before the end of what was remembered', () => {
      const client = new Displacer(algorithm)
      client.take(LIMIT)
      client.evict()
      const { resetAfterMs } = client.limiter.peek('client', 0).verdicts[0]
      client.advance(resetAfterMs - MINUTE_MS)
      client.limiter.take('client', 0)
      for (let second = 0; second < 59; second++) {
        client.advance(1_000)
        const { remaining } = client.limiter.peek('client', 0).verdicts[0]
        if (second > 50) client.take(remaining)
      }
      const before = client.remaining()
      client.evict()
      for (const [index, after] of client.remaining().entries()) expect(after - before[index]).toBeLessThanOrEqual(HALF)
    })

    test('is free no sooner for being displaced where it had spent all', () => {
      const client = new Displacer(algorithm)
      client.take(LIMIT)
      const before = client.remaining()
      for (let time = 0; time < 5; time++) {
        client.evict()
        client.take(1)
      }
      expect(
        client
          .remaining()
          .map((after, index) => after - before[index])
          .every((more) => more <= 0),
      ).toBe(true)
    })
  },
)
