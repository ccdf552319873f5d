import { expect, test } from '@jest/globals'
import { baseSeed, numberOfRuns, seededRandom } from '@sluice/testkit'
import fc from 'fast-check'
import { CountingFleet, type CountingReplica } from './counting-fleet.ts'

type Step =
  | { readonly kind: 'count'; readonly at: number; readonly units: number }
  | { readonly kind: 'run'; readonly ms: number }
  | { readonly kind: 'cut'; readonly sides: number }
  | { readonly kind: 'heal' }
  | { readonly kind: 'kill'; readonly at: number }
  | { readonly kind: 'start'; readonly at: number }

const at = fc.nat(9)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('count' as const), at, units: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.constantFrom(100, 500, 3_000) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cut' as const), sides: fc.nat(31) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'heal' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('kill' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('start' as const), at }) },
)

interface Units {
  readonly id: string
  /** The least units that all replicas must have at the end. */
  least: number
  counted: number
}

/** Replicas that die, start and are partitioned at random times, each counting under a unique id. */
class MortalFleet {
  readonly fleet: CountingFleet
  readonly #units = new Map<CountingReplica, Units>()

  constructor(seed: number) {
    this.fleet = new CountingFleet(seededRandom(seed), { loss: 0.1, doubles: 0.1, delayMs: 20 }, 1_000)
    for (let n = 0; n < 5; n++) this.#start()
  }

  async play(one: Step): Promise<void> {
    const { net } = this.fleet
    if (one.kind === 'count') await this.#count(this.#replica(one.at), one.units)
    else if (one.kind === 'run') await net.run(one.ms, 50)
    else if (one.kind === 'cut') net.part((index) => ((one.sides >> (index % 5)) & 1) === 1)
    else if (one.kind === 'heal') net.heal()
    else if (one.kind === 'kill') await this.#kill(this.#replica(one.at))
    else net.join(this.#start().node, this.#replica(one.at).node)
  }

  /** Throws unless all replicas agree at the end: with all units of live replicas, and no unit counted twice. */
  async check(): Promise<void> {
    const { net } = this.fleet
    net.heal()
    const from = net.clock.now()
    while (!(await this.#isRight())) {
      if (net.clock.now() - from > 90_000) throw new Error(JSON.stringify(await this.#values()))
      await net.run(100, 50)
    }
    // later takeovers change nothing
    const before = await this.#values()
    await net.run(10_000, 100)
    expect(await this.#values()).toEqual(before)
    await net.stop()
  }

  #start(): CountingReplica {
    const replica = this.fleet.start()
    const id = `id ${this.#units.size}`
    this.#units.set(replica, { id, least: 0, counted: 0 })
    return replica
  }

  #replica(index: number): CountingReplica {
    return this.fleet.replicas[index % this.fleet.replicas.length]
  }

  #unitsOf(replica: CountingReplica): Units {
    const units = this.#units.get(replica)
    if (!units) throw new Error('a replica that was never started')
    return units
  }

  async #count(replica: CountingReplica, units: number): Promise<void> {
    const own = this.#unitsOf(replica)
    await replica.counters.increment(own.id, units)
    own.counted += units
    own.least += units
  }

  /** Kills a replica. Units that not all of the other replicas have may be lost with it. */
  async #kill(replica: CountingReplica): Promise<void> {
    if (this.fleet.replicas.length < 4) return
    const own = this.#unitsOf(replica)
    this.fleet.kill(replica)
    own.least = Math.min(own.counted, ...(await this.fleet.values(own.id)))
  }

  async #isRight(): Promise<boolean> {
    const all = await this.#values()
    return all.every(({ units: { least, counted }, values: [value, ...others] }) => {
      return others.every((other) => other === value) && value >= least && value <= counted
    })
  }

  async #values(): Promise<{ readonly units: Units; readonly values: readonly number[] }[]> {
    const all = [...this.#units.values()]
    return Promise.all(all.map(async (units) => ({ units, values: await this.fleet.values(units.id) })))
  }
}

async function played(steps: readonly Step[], seed: number): Promise<void> {
  const mortal = new MortalFleet(seed)
  // the replicas must know each other first
  await mortal.fleet.net.run(3_000, 100)
  for (const one of steps) await mortal.play(one)
  await mortal.check()
}

test('replicas that die in a partition, on either side, lose only the units that no other replica had', async () => {
  const seed = baseSeed()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(), (steps, random) => played(steps, random)),
    { seed, numRuns: numberOfRuns(20), endOnFailure: true },
  )
}, 3_600_000)
