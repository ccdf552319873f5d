import assert from 'node:assert/strict'
import {
  type AlgorithmName,
  type Answer,
  type Charge,
  type CompiledPolicy,
  type Counter,
  PolicyVariants,
} from '@sluice/limiter-core/backend'
import type { SeededRandom } from '../../seeded-random.ts'
import type { HoldBench } from '../holds/hold-bench.ts'

const KEYS = ['a', 'b']
const STEPS = 150

/** Plain cells of a policy that books turns, to which charges are applied without a backend. */
class BookedCells {
  readonly #compiled: CompiledPolicy
  readonly #cells: ReadonlyMap<string, Float64Array>

  constructor(compiled: CompiledPolicy) {
    this.#compiled = compiled
    this.#cells = new Map(KEYS.map((key) => [key, new Float64Array(compiled.cells)]))
  }

  /** Returns the wait of a take, which is made or booked, and the state of the key. */
  take({ key, cost, advisory }: Charge, now: number): readonly number[] {
    const cells = this.#of(key)
    const waitMs = this.#compiled.waitMs(cells, 0, now, cost)
    if (waitMs === 0) this.#compiled.spend(cells, 0, now, cost)
    else if (!advisory) this.#compiled.bookings?.book(cells, 0, now, cost)
    return this.#stateOf(cells, now, waitMs)
  }

  peek({ key, cost }: Charge, now: number): readonly number[] {
    const cells = this.#of(key)
    return this.#stateOf(cells, now, this.#compiled.waitMs(cells, 0, now, cost))
  }

  adjust({ key, cost }: Charge, takenAt: number, now: number): readonly number[] {
    const cells = this.#of(key)
    const isUnused = this.#compiled.resetAfterMs(cells, 0, now) === 0 && cells.every((cell) => cell === 0)
    if (!isUnused || cost > 0) this.#compiled.adjust(cells, 0, now, cost, takenAt)
    return this.#stateOf(cells, now, 0)
  }

  reset(key: string): void {
    this.#of(key).fill(0)
  }

  #of(key: string): Float64Array {
    return this.#cells.get(key) as Float64Array
  }

  #stateOf(cells: Float64Array, now: number, waitMs: number): readonly number[] {
    return [waitMs, this.#compiled.remaining(cells, 0, now), this.#compiled.resetAfterMs(cells, 0, now)]
  }
}

/** Compares a random history of booked turns with the same history on plain cells. */
export async function bookedLikePlainCells(
  algorithm: AlgorithmName,
  { backend, clock }: HoldBench,
  random: SeededRandom,
): Promise<void> {
  const slices = algorithm === 'sliding-window' && { slices: random.pick([1, 4]) }
  const policy = { name: 'turns', algorithm, limit: 6, windowMs: 8_000, retry: 'booked', ...slices } as const
  // sometimes another plan has cells of its own
  const plans = [policy, { ...policy, windowMs: random.pick([8_000, 20_000]) }]
  const compiled = new PolicyVariants(plans).compile(policy)
  const counter: Counter = backend.open(compiled, `contract/booked-${algorithm}`)
  const model = new BookedCells(compiled)
  // the first calls may be sent again, after later ones, because the server has to load what runs them
  const other = { key: 'other', counter, cost: 1 }
  await Promise.all([1, 2, 3].map(() => backend.takeAll([other])))
  const takes: Charge[] = []
  const take = async (charge: Charge): Promise<void> => {
    // several at once, which a remote backend may receive in one call
    const together = Array.from({ length: random.pick([1, 1, 3]) }, () => charge)
    const answers = await Promise.all(together.map((each) => backend.takeAll([each])))
    for (const answer of answers) assert.deepEqual(numbersOf(answer), model.take(charge, clock.now()), algorithm)
    takes.push(charge)
  }
  const refund = async (now: number): Promise<void> => {
    if (takes.length === 0) return
    const { key, cost } = random.pick(takes)
    const charge = { key, counter, cost: -cost }
    assert.deepEqual(numbersOf(await backend.adjustAll([charge], now)), model.adjust(charge, now, now), algorithm)
  }
  for (let step = 0; step < STEPS; step++) {
    const kind = random.whole(16)
    const charge = { key: random.pick(KEYS), counter, cost: 1 + random.whole(3), advisory: random.whole(8) === 0 }
    const now = clock.now()
    if (kind < 4) clock.advance(random.whole(2_500))
    else if (kind < 13) {
      await take(charge)
    } else if (kind === 13) {
      assert.deepEqual(numbersOf(await backend.peekAll([charge])), model.peek(charge, now), algorithm)
    } else if (kind === 14) await refund(now)
    else if (random.whole(4) === 0) {
      await backend.resetAll([charge])
      model.reset(charge.key)
    }
  }
}

function numbersOf({ verdicts: [{ retryAfterMs, remaining, resetAfterMs }] }: Answer): readonly number[] {
  return [retryAfterMs, remaining, resetAfterMs]
}
