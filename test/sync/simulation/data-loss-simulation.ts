import { type SeededRandom, SyncedFleet, type SyncedFleetOptions } from '@sluice/testkit'

const STEPS = 300
const QUIET_MS = 5_000
// a limit high enough that no take is denied
const policy = { name: 'api', limit: 10_000, window: '1h' } as const
const FORMS = [
  { algorithm: 'fixed-window' },
  { algorithm: 'sliding-window' },
  { algorithm: 'sliding-window', slices: 6 },
] as const

/** A key for which the ledger has a different number of units than were admitted. */
export interface WrongKey {
  readonly key: string
  readonly used: number
  readonly admitted: number
}

/** Simulates random traffic of a fleet whose ledger loses all of its data once in the middle. */
export class LosingLife {
  readonly options: Pick<SyncedFleetOptions, 'nodes' | 'policy' | 'network' | 'sync'>
  readonly #random: SeededRandom
  readonly #fleet: SyncedFleet
  readonly #keys: readonly string[]
  readonly #admitted = new Map<string, number>()

  /** Fraction of messages that the network loses, and fraction that it duplicates. */
  constructor(random: SeededRandom, bad: number) {
    this.options = {
      nodes: 1 + random.whole(5),
      policy: { ...policy, ...random.pick(FORMS) },
      network: { delayMs: random.pick([1, 5, 60, 120]), loss: bad, doubles: bad },
      sync: { tickMs: random.pick([100, 500, 1_000]), gapMs: random.pick([1, 10, 50, 100]), floor: 0 },
    }
    this.#random = random
    this.#fleet = new SyncedFleet({ ...this.options, random })
    this.#keys = Array.from({ length: random.pick([1, 3]) }, (_, key) => `key ${key}`)
  }

  async live(): Promise<readonly WrongKey[]> {
    const lostAfter = STEPS / 2 + this.#random.whole(STEPS / 4)
    for (let step = 0; step < STEPS; step++) {
      if (step === lostAfter) this.#fleet.ledger.loseData()
      await this.#step()
    }
    for (let node = 0; node < this.options.nodes; node++) for (const key of this.#keys) this.#take(node, key, 1)
    await this.#fleet.pass(QUIET_MS)
    const counts = this.#keys.map((key) => {
      return { key, used: this.#fleet.used(key), admitted: this.#admitted.get(key) ?? 0 }
    })
    await this.#fleet.close()
    return counts.filter(({ used, admitted }) => used !== admitted)
  }

  async #step(): Promise<void> {
    const random = this.#random
    const node = random.whole(this.options.nodes)
    const key = random.pick(this.#keys)
    for (let times = random.whole(8); times >= 0; times--) this.#take(node, key, random.pick([1, 1, 1, 2, 5]))
    if (random.whole(3) === 0) await this.#fleet.pass(random.whole(random.pick([10, 100, 1_500])))
  }

  #take(node: number, key: string, cost: number): void {
    if (!this.#fleet.nodes[node].limiter.take(key, cost).allowed) return
    this.#admitted.set(key, (this.#admitted.get(key) ?? 0) + cost)
  }
}
