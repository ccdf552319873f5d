import assert from 'node:assert/strict'
import {
  type Answer,
  algorithms,
  type Backend,
  BookingPolicy,
  type Charge,
  type CompiledPolicy,
  drainPerMs,
  NUMBERS,
  type Policy,
  type PriorUsage,
  restoreUsage,
} from '@sluice/limiter-core/backend'
import type { SeededRandom } from '@sluice/testkit'

/** An operation on a key in one tick. */
type Deed =
  | { readonly kind: 'take' | 'peek'; readonly charge: Charge }
  | { readonly kind: 'adjust'; readonly charge: Charge; readonly takenAt: number }

/**
 * One key that is counted by a policy in this process and by Redis. After each operation both must have the same
 * numbers.
 */
export class PolicyTwin {
  readonly #key: string
  readonly #policy: Policy
  readonly #policies: readonly CompiledPolicy[]
  readonly #cells: Float64Array
  #lastTakeAt = 0

  constructor(policy: Policy, key: string) {
    this.#key = key
    this.#policy = policy
    // the same count under another limit
    const other: Policy = { ...policy, limit: Math.ceil(policy.limit / 2) }
    const compiled = [policy, other].map((one) => algorithms[policy.algorithm].compile(one, policy.limit))
    this.#policies = policy.retry === 'booked' ? compiled.map((one) => new BookingPolicy(one)) : compiled
    this.#cells = new Float64Array(this.#policies[0].cells)
  }

  /** Key of its cells in Redis, including the prefix. */
  storedAs(prefix: string): string {
    const { windowMs, slices = 1 } = this.#policy
    const ends = drainPerMs(this.#policy) > 0 ? '' : `/${windowMs}`
    return `${prefix}:{${this.#key}}:twin${ends}${slices > 1 ? `/${slices}` : ''}`
  }

  /** Applies a random operation on both sides at `now`. Returns a function that checks the answer of the other side. */
  async live(backend: Backend, random: SeededRandom, now: number): Promise<void> {
    const deed = this.#deed(backend, random, now)
    const { charge } = deed
    const answer =
      deed.kind === 'adjust'
        ? backend.adjustAll([charge], deed.takenAt)
        : (backend[deed.kind === 'take' ? 'takeAll' : 'peekAll']([charge]) as Promise<Answer>)
    // the local operation completes before the other side answers, so that all twins share a batch
    const expected = this.#do(deed, now)
    const { verdicts } = await answer
    const { remaining, retryAfterMs, resetAfterMs, availableAfterMs: growsMs = Number.NaN } = verdicts[0]
    same(
      [remaining, retryAfterMs, resetAfterMs, growsMs],
      expected,
      () => `${JSON.stringify({ ...deed, charge: { ...charge, counter: charge.counter.compiled.policy } })} at ${now}`,
    )
  }

  /** Throws unless `stored` has the same cells. */
  check(stored: Buffer | null): void {
    const cells = [...this.#cells]
    // booked turns are stored in front of the others, and a log without its number of timestamps
    const queue = this.#policy.retry === 'booked' ? cells.splice(-3) : []
    const used = this.#policy.algorithm === 'sliding-log' ? cells.slice(1, 1 + cells[0]) : cells
    const held = [...queue, ...used]
    const doubles = Array.from(
      { length: (stored?.length ?? 0) / 8 },
      (_, index) => stored?.readDoubleLE(index * 8) ?? 0,
    )
    const expected = stored === null ? held.map(() => 0) : held
    same(stored === null ? held : doubles, expected, () => `cells of ${JSON.stringify(this.#policy)}`)
  }

  #deed(backend: Backend, random: SeededRandom, now: number): Deed {
    const compiled = random.pick(this.#policies)
    const { capacity } = compiled
    const kind = random.pick(['take', 'take', 'take', 'peek', 'adjust'] as const)
    const charge = { key: this.#key, counter: backend.open(compiled, 'twin'), cost: 0 }
    if (kind === 'adjust') {
      const units = random.whole(capacity + 3) - random.pick([0, capacity])
      const takenAt = random.pick([this.#lastTakeAt, now, now - random.whole(2 * this.#policy.windowMs), now + 10])
      return { kind, charge: { ...charge, cost: units }, takenAt }
    }
    const cost = random.pick([0, 1, 1, random.whole(capacity) + 1, capacity, capacity + 1])
    if (kind === 'peek' || random.whole(6) > 0) return { kind, charge: { ...charge, cost } }
    return { kind, charge: { ...charge, cost, known: this.#known(random, capacity) } }
  }

  /** Random known usage of the key: an earlier state, or units that the caller admitted. */
  #known(random: SeededRandom, capacity: number): PriorUsage {
    const admitted = {
      uncounted: random.whole(3),
      unsure: random.whole(3),
      upTo: random.whole(capacity + 3),
      ageMs: random.whole(99),
    }
    return {
      used: random.whole(capacity + 2),
      resetAfterMs: random.next() * random.pick([1, 2]) * this.#policy.windowMs,
      admitted: random.pick([undefined, admitted]),
    }
  }

  #do(deed: Deed, now: number): number[] {
    const { counter, cost, known } = deed.charge
    const { compiled } = counter
    const cells = this.#cells
    if (deed.kind === 'adjust') {
      const before = cells.slice()
      const moved = cost === 0 ? 0 : compiled.adjust(cells, 0, now, cost, deed.takenAt)
      const verdict = this.#verdict(compiled, now, 0, cost)
      // an operation without effect is not written
      if (moved === 0) cells.set(before)
      return verdict
    }
    if (known && deed.kind === 'take') restoreUsage(compiled, cells, 0, now, known)
    const waitMs = compiled.waitMs(cells, 0, now, cost)
    if (waitMs === 0 && deed.kind === 'take') {
      compiled.spend(cells, 0, now, cost)
      this.#lastTakeAt = now
    }
    if (waitMs > 0 && deed.kind === 'take') compiled.bookings?.book(cells, 0, now, cost)
    return this.#verdict(compiled, now, waitMs, cost)
  }

  #verdict(counted: CompiledPolicy, now: number, waitMs: number, cost: number): number[] {
    const numbers = new Float64Array(NUMBERS)
    counted.numbers(this.#cells, 0, now, cost, waitMs, numbers)
    const [, remaining, resetAfterMs, growsMs] = numbers
    return [remaining, waitMs, resetAfterMs, growsMs]
  }
}

// 0 and -0 are equal here; otherwise the numbers must be identical
function same(got: readonly number[], expected: readonly number[], about: () => string): void {
  const differs = got.length !== expected.length || got.some((number, index) => number !== expected[index])
  if (differs) assert.fail(`expected ${expected.join(' ')}: ${about()}, received ${got.join(' ')}`)
}
