import { describe, expect, test } from '@jest/globals'
import type { Decision, Limiter, PolicyInput } from '@sluice/limiter-core'
import { baseSeed, numberOfRuns, seededRandom } from '@sluice/testkit'
import { planLimiters } from '../plan-limiters.ts'
import { capacityOf, everyAlgorithm, KIB, type Scene, scene } from '../scene.ts'

const LIMIT = 100
const HALF = LIMIT / 2
const WINDOW_MS = 3_600_000
const MINUTE_MS = 60_000
const OFFSETS = Array.from({ length: 26 }, (_, index) => (index * WINDOW_MS) / 12 + (index % 3))

/** Keys that spend less than half are not written to a tail; the others soon collide in it. */
const FLOODS = [
  { scope: 'light', cost: HALF - 1, window: MINUTE_MS },
  // of fully spent keys, the one that resets first is evicted first
  { scope: 'heavy', cost: LIMIT, window: 2 * WINDOW_MS },
  { scope: 'heavier', cost: LIMIT, window: 2 * WINDOW_MS },
] as const

/** One plan, and several plans whose policies use different kinds of cells. The first is the client's plan. */
const PLANS: readonly (readonly [string, readonly PolicyInput[]])[] = [
  ...everyAlgorithm.map((algorithm) => [algorithm, [{ algorithm, limit: LIMIT, window: WINDOW_MS }]] as const),
  ...[
    ['sliding-log', 'token-bucket'],
    ['gcra', 'fixed-window'],
    ['sliding-window', 'gcra', 'fixed-window'],
    ['fixed-window', 'token-bucket'],
  ].map(
    (algorithms) =>
      [
        `plans of ${algorithms.join(', ')}`,
        algorithms.map((algorithm, plan) => ({ algorithm, limit: LIMIT * (1 + plan), window: WINDOW_MS })),
      ] as unknown as readonly [string, readonly PolicyInput[]],
  ),
]

/** A client, and other policies whose keys evict it and are remembered in other tails. */
class Displacer {
  readonly limiter: Limiter<Decision>
  readonly #scene: Scene
  readonly #floods: readonly (readonly [Limiter<Decision>, number])[]
  readonly #keys: number
  #flooded = 0

  constructor(plans: readonly PolicyInput[]) {
    this.#scene = scene([{ limit: 1, window: '1s' }], 64 * KIB)
    const { backend, clock } = this.#scene
    const limiterOf = (policies: readonly PolicyInput[], scope: string) =>
      planLimiters(policies, { backend, clock, scope })[0]
    this.limiter = limiterOf(plans, 'client')
    // the first count uses the first tail
    this.remaining()
    this.#floods = FLOODS.map(({ scope, cost, window }) => {
      const policies = plans.map((policy) => ({ ...policy, window }))
      return [limiterOf(policies, scope), cost] as const
    })
    this.#keys = capacityOf(plans[0], 64 * KIB)
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

  /** Units that the client could take at each future time if it waited until then. */
  remaining(): number[] {
    const now = this.#scene.clock.now()
    return OFFSETS.map((ms) => this.limiter.peek('client', 0, { now: now + ms }).verdicts[0].remaining)
  }
}

describe.each(PLANS)('%s: a client that is evicted, returns, spends and is evicted again', (_what, plans) => {
  const seed = baseSeed()

  test(`gains at most half a limit per eviction, now and at any later time (seed ${seed})`, () => {
    const random = seededRandom(seed)
    const client = new Displacer(plans)
    let forgotten = 0
    const rounds = numberOfRuns(40)
    for (let round = 0; round < rounds; round++) {
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

  test('is still charged for units spent just before its remembered count expires', () => {
    const client = new Displacer(plans)
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

  test('is not admitted earlier because of its eviction if it had spent its whole limit', () => {
    const client = new Displacer(plans)
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
})
