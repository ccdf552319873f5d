import type {
  Answer,
  Charge,
  CompiledPolicy,
  CountedKey,
  Counter,
  Decision,
  MaybePromise,
  Moment,
} from '@sluice/limiter-core/backend'

interface TakeOne {
  takeOne(counter: LeasedCounter, key: string, cost: number, moment?: Moment): MaybePromise<Decision>
}

export type LeasedKey = CountedKey<LeasedCounter>
export type LeasedCharge = Charge<LeasedCounter>

/** A counter whose units this process may lease. */
export class LeasedCounter implements Counter<MaybePromise<Answer>> {
  readonly compiled: CompiledPolicy
  readonly name: string
  /** Whether keys of the counter may be leased (see `isLeased`). */
  readonly isLeasable: boolean
  /** Counter of the exact backend, which counts charges without a lease and the units spent from leases. */
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

/** Returns the charge with the counter of the exact backend. */
export function exactCharge(charge: LeasedCharge): Charge {
  return { ...charge, counter: charge.counter.exact }
}
