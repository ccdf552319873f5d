import type {
  Answer,
  Charge,
  CompiledPolicy,
  CountedKey,
  Counter,
  Decision,
  MaybePromise,
  Moment,
} from '../contracts.ts'

/** Takes one charge of a counter that may be leased. */
interface TakeOne {
  takeOne(counter: LeasedCounter, key: string, cost: number, moment?: Moment): MaybePromise<Decision>
}

export type LeasedKey = CountedKey<LeasedCounter>
export type LeasedCharge = Charge<LeasedCounter>

/** A counter of which this process may hold units on lease. */
export class LeasedCounter implements Counter<MaybePromise<Answer>> {
  readonly compiled: CompiledPolicy
  readonly name: string
  /** Whether its keys may be leased: its limit is large enough, and its window long enough. */
  readonly isLeasable: boolean
  /** Counts what is not leased, and what was spent from leases. */
  readonly exact: Counter
  readonly #backend: TakeOne
  readonly #closed: () => void

  constructor(backend: TakeOne, exact: Counter, isLeasable: boolean, closed: () => void) {
    this.compiled = exact.compiled
    this.name = exact.name
    this.isLeasable = isLeasable
    this.exact = exact
    this.#backend = backend
    this.#closed = closed
  }

  take(key: string, cost: number, moment?: Moment): MaybePromise<Decision> {
    return this.#backend.takeOne(this, key, cost, moment)
  }

  close(): void {
    this.#closed()
    this.exact.close?.()
  }
}

/** A charge as the exact backend counts it. */
export function exactCharge(charge: LeasedCharge): Charge {
  return { ...charge, counter: charge.counter.exact }
}
