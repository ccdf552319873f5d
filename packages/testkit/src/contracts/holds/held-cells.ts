import assert from 'node:assert/strict'
import {
  type AlgorithmName,
  type Answer,
  type Charge,
  type CompiledPolicy,
  type Counter,
  type Held,
  type Policy,
  type PolicyHolds,
  PolicyVariants,
} from '@sluice/limiter-core/backend'
import type { SeededRandom } from '../../seeded-random.ts'
import type { HoldBench } from './hold-bench.ts'

const KEYS = ['a', 'b']
const MAX_HOLD_MS = 20_000
const STEPS = 120

interface OpenHold {
  readonly key: string
  readonly held: Held
  readonly forMs: number
}

/** Plain cells of a policy with holds, and perhaps with turns, to which charges are applied without a backend. */
class HeldCells {
  readonly open: OpenHold[] = []
  readonly #compiled: CompiledPolicy
  readonly #holds: PolicyHolds
  readonly #cells: ReadonlyMap<string, Float64Array>

  constructor(compiled: CompiledPolicy) {
    this.#compiled = compiled
    this.#holds = compiled.holds as PolicyHolds
    this.#cells = new Map(KEYS.map((key) => [key, new Float64Array(compiled.cells)]))
  }

  /** Returns the wait of a take, which is made if there is none, and the state of the key. */
  take(charge: Charge, now: number): readonly number[] {
    const { key, cost, hold } = charge
    const cells = this.#of(key)
    const freed = hold?.from ? this.#holds.heldOf(cells, 0, now, hold.from.units, hold.from.endsAt) : 0
    const needed = Math.max(0, cost - freed)
    const waitMs = this.#compiled.waitMs(cells, 0, now, needed)
    if (waitMs > 0) this.#compiled.bookings?.book(cells, 0, now, needed)
    else if (!hold) this.#compiled.spend(cells, 0, now, cost)
    else {
      if (hold.from) this.#holds.release(cells, 0, now, hold.from.units, hold.from.endsAt)
      if (needed > 0) this.#compiled.bookings?.pass(cells, 0, now, needed)
      const held = { units: cost, endsAt: this.#holds.endsAt(now, hold.forMs) }
      this.#holds.hold(cells, 0, now, held.units, held.endsAt)
      this.open.push({ key, held, forMs: hold.forMs })
    }
    return [waitMs, ...this.#stateOf(cells, now, needed)]
  }

  settle({ key, cost, hold }: Charge, now: number): readonly number[] {
    const cells = this.#of(key)
    if (hold?.from) this.#holds.release(cells, 0, now, hold.from.units, hold.from.endsAt)
    this.#compiled.adjust(cells, 0, now, cost, now)
    return [0, ...this.#stateOf(cells, now, cost)]
  }

  #of(key: string): Float64Array {
    return this.#cells.get(key) as Float64Array
  }

  #stateOf(cells: Float64Array, now: number, units: number): readonly number[] {
    // a charge of no units receives the usage without turns
    const compiled = units === 0 ? (this.#compiled.bookings?.inner ?? this.#compiled) : this.#compiled
    return [compiled.remaining(cells, 0, now), compiled.resetAfterMs(cells, 0, now)]
  }
}

/** Compares a random history of holds with the same history on plain cells. */
export function holdsLikePlainCells(algorithm: AlgorithmName, bench: HoldBench, random: SeededRandom): Promise<void> {
  return likePlainCells({ name: 'held', algorithm, limit: 20, windowMs: 8_000, maxHoldMs: MAX_HOLD_MS }, bench, random)
}

/** Like `holdsLikePlainCells`, by a policy whose denied callers book turns. */
export function holdsWithTurns(algorithm: AlgorithmName, bench: HoldBench, random: SeededRandom): Promise<void> {
  const policy = { name: 'held-turns', algorithm, limit: 20, windowMs: 8_000, maxHoldMs: MAX_HOLD_MS } as const
  return likePlainCells({ ...policy, retry: 'booked' }, bench, random)
}

async function likePlainCells(policy: Policy, { backend, clock }: HoldBench, random: SeededRandom): Promise<void> {
  const { name, algorithm } = policy
  const compiled = new PolicyVariants([policy], 0, true).compile(policy)
  const counter: Counter = backend.open(compiled, `contract/${name}-${algorithm}`)
  const model = new HeldCells(compiled)
  const take = async (charge: Charge): Promise<boolean> => {
    const expected = model.take(charge, clock.now())
    assert.deepEqual(numbersOf(await backend.takeAll([charge])), expected, algorithm)
    return expected[0] === 0
  }
  const settle = async (charge: Charge): Promise<void> => {
    const expected = model.settle(charge, clock.now())
    assert.deepEqual(numbersOf(await backend.adjustAll([charge], Number.POSITIVE_INFINITY)), expected, algorithm)
  }
  const endOrExtend = async (isExtension: boolean): Promise<void> => {
    const [one] = model.open.splice(random.whole(model.open.length), 1)
    const { key, held, forMs } = one
    const charge = { key, counter, cost: random.whole(13), hold: { from: held, forMs } }
    if (!isExtension) return settle(charge)
    if (!(await take({ ...charge, cost: held.units + random.whole(5) }))) model.open.push(one)
  }
  for (let step = 0; step < STEPS; step++) {
    const kind = random.whole(10)
    const plain = { key: random.pick(KEYS), counter, cost: 1 + random.whole(8) }
    if (kind < 3) clock.advance(1 + random.whole(6_000))
    else if (kind < 5) await take(plain)
    else if (kind < 7) await take({ ...plain, hold: { forMs: 1 + random.whole(MAX_HOLD_MS) } })
    else if (model.open.length > 0) await endOrExtend(kind === 7)
  }
}

function numbersOf({ verdicts: [{ retryAfterMs, remaining, resetAfterMs }] }: Answer): readonly number[] {
  return [retryAfterMs, remaining, resetAfterMs]
}
