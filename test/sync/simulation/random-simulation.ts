import type { SyncOptions } from '@sluice/fleet/sync'
import type { Decision, PolicyInput } from '@sluice/limiter-core'
import { type FleetNode, type Network, type SeededRandom, SyncedFleet } from '@sluice/testkit'

const QUIET_MS = 30_000

/** Randomly drawn options of a run. */
export interface LifeOptions {
  readonly nodes: number
  readonly policies: readonly PolicyInput[]
  readonly network: Network
  readonly sync: SyncOptions
  readonly keys: number
  readonly steps: number
  readonly resets: boolean
}

interface Taken {
  readonly node: FleetNode
  readonly key: string
  readonly decision: Decision
  left: number
}

/** Simulates random takes, refunds, resets, network cuts and stops of a fleet, and checks its invariants at the end. */
export class RandomLife {
  readonly options: LifeOptions
  readonly #fleet: SyncedFleet
  readonly #random: SeededRandom
  readonly #taken: Taken[] = []
  readonly #admitted = new Map<string, number>()
  readonly #refunded = new Map<string, number>()
  readonly #resets: Promise<unknown>[] = []
  readonly #resetKeys = new Set<string>()
  readonly #wrongs = new Set<string>()

  constructor(random: SeededRandom, drawn: Partial<LifeOptions> = {}) {
    this.#random = random
    this.options = { ...drawnOptions(random), ...drawn }
    const { policies, ...rest } = this.options
    const [policy, ...morePolicies] = policies
    this.#fleet = new SyncedFleet({ ...rest, policy, morePolicies, random })
  }

  /** Violated invariants. Empty if all hold. */
  async live(): Promise<readonly string[]> {
    for (let step = 0; step < this.options.steps; step++) await this.#step()
    this.#goOn()
    await this.#fleet.pass(QUIET_MS)
    await Promise.all(this.#resets)
    this.#checkLedger()
    this.#checkNodes()
    await this.#close()
    return [...this.#wrongs]
  }

  async #step(): Promise<void> {
    const random = this.#random
    const { nodes } = this.#fleet
    const node = random.pick(nodes)
    const key = `key ${random.whole(this.options.keys)}`
    const drawn = random.whole(100)
    if (drawn < 70) for (let times = random.whole(8); times >= 0; times--) this.#take(node, key)
    else if (drawn < 80) this.#refund()
    else if (drawn < 82 && this.options.resets) this.#reset(node, key)
    else if (drawn < 83) this.#fleet.isCut = true
    else if (drawn < 84) node.clock.stop()
    else if (drawn < 86) this.#goOn()
    if (random.whole(3) === 0) await this.#fleet.pass(random.whole(random.pick([10, 100, 1_500])))
  }

  #take(node: FleetNode, key: string): void {
    if (node.clock.isStopped) return
    const cost = this.#random.pick([1, 1, 1, 2, 5, 0])
    const decision = node.limiter.take(key, cost)
    this.#checkDecision(decision, cost)
    if (!decision.allowed || cost === 0) return
    this.#taken.push({ node, key, decision, left: cost })
    this.#count(key, cost)
  }

  #refund(): void {
    const random = this.#random
    const taken = random.pick(this.#taken)
    if (!taken || taken.left === 0 || taken.node.clock.isStopped) return
    const units = 1 + random.whole(taken.left)
    taken.left -= units
    this.#checkDecision(taken.node.limiter.charge(taken.key, -units, taken.decision), 0)
    this.#count(taken.key, -units)
    this.#refunded.set(taken.key, (this.#refunded.get(taken.key) ?? 0) + units)
  }

  #reset(node: FleetNode, key: string): void {
    if (node.clock.isStopped) return
    this.#resetKeys.add(key)
    this.#resets.push(Promise.resolve(node.limiter.reset(key)).catch(() => {}))
  }

  #count(key: string, units: number): void {
    this.#admitted.set(key, (this.#admitted.get(key) ?? 0) + units)
  }

  #goOn(): void {
    this.#fleet.isCut = false
    for (const { clock } of this.#fleet.nodes) clock.resume()
  }

  #checkDecision(decision: Decision, cost: number): void {
    const { allowed, retryAfterMs, verdicts } = decision
    if (!allowed && !(retryAfterMs > 0)) this.#wrong(`denied, and may retry after ${retryAfterMs} ms`)
    if (allowed && retryAfterMs !== 0) this.#wrong(`allowed, and may retry after ${retryAfterMs} ms`)
    if (cost === 0 && !allowed) this.#wrong('a take of 0 was denied')
    for (const { remaining, resetAfterMs, policy } of verdicts) {
      if (!(remaining >= 0 && remaining <= policy.limit) || !Number.isInteger(remaining))
        this.#wrong(`remaining ${remaining}`)
      if (!(resetAfterMs >= 0)) this.#wrong(`resetAfterMs ${resetAfterMs}`)
    }
  }

  #checkLedger(): void {
    for (const [place, { algorithm }] of this.options.policies.entries()) {
      if (algorithm === 'token-bucket' || algorithm === 'gcra') continue
      for (const [key, admitted] of this.#admitted) {
        const units = this.#fleet.units(key, place)
        // a refund may miss a window that another process opened in the ledger after the take
        const most = admitted + (algorithm === 'fixed-window' ? (this.#refunded.get(key) ?? 0) : 0)
        if (!this.#resetKeys.has(key) && (units < admitted || units > most))
          this.#wrong(`${algorithm} of ${key}: ${units} in the ledger, ${admitted} admitted`)
      }
    }
  }

  /** Checks that no timer runs while nothing waits to be reported. */
  #checkNodes(): void {
    for (const { clock } of this.#fleet.nodes) {
      if (clock.pending !== 0) this.#wrong(`${clock.pending} timers while all is quiet`)
    }
  }

  async #close(): Promise<void> {
    await this.#fleet.close()
    for (const { clock } of this.#fleet.nodes) if (clock.pending !== 0) this.#wrong(`${clock.pending} timers are left`)
  }

  #wrong(what: string): void {
    this.#wrongs.add(what)
  }
}

function drawnOptions(random: SeededRandom): LifeOptions {
  const nodes = 1 + random.whole(8)
  const tickMs = random.pick([100, 500, 1_000, 3_000])
  const limits = [20, 100, 1_000, 10_000]
  const bad = random.pick([0, 0, 0.05, 0.2])
  return {
    nodes,
    policies: Array.from({ length: 1 + random.whole(3) }, (_, place) => ({
      name: `policy ${place}`,
      limit: random.pick(limits),
      window: '1h',
      ...random.pick(FORMS),
    })),
    network: { delayMs: random.pick([1, 5, 60, 120]), loss: bad, doubles: bad },
    sync: {
      tickMs,
      gapMs: random.pick([1, 10, 50, 100]),
      burst: random.pick([0.01, 0.25, 1]),
      floor: 0,
      silentMs: Math.max(tickMs, 3_000),
    },
    keys: random.pick([1, 3, 20]),
    steps: 300,
    resets: random.whole(3) === 0,
  }
}

const FORMS: readonly Pick<PolicyInput, 'algorithm' | 'slices'>[] = [
  { algorithm: 'fixed-window' },
  { algorithm: 'sliding-window' },
  { algorithm: 'sliding-window', slices: 6 },
  { algorithm: 'token-bucket' },
  { algorithm: 'gcra' },
]
