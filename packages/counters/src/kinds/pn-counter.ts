import { checkDelta } from '../counter-delta.ts'
import { exactSum } from './exact-sum.ts'
import { checkedPairs, checkReplica, ReplicaAmounts, type ReplicaPairs, stateOf } from './replica-amounts.ts'

const KIND = 'pn-counter'

/** JSON form of a `PNCounter`: each replica with the units it added and removed, 0 to 2^53 - 1, sorted by replica. */
export interface PNCounterState {
  readonly kind: 'pn-counter'
  readonly up: ReplicaPairs
  readonly down: ReplicaPairs
}

/**
 * Counter that goes up and down and needs no coordination. The units that each replica added and removed are two
 * grow-only counters, as in `GCounter`, and the value is their difference. States can be merged repeatedly, late and in
 * any order. Source: Shapiro, Preguiça, Baquero, Zawirski: A comprehensive study of convergent and commutative
 * replicated data types, 2011.
 */
export class PNCounter {
  readonly replica: string
  readonly #up = new ReplicaAmounts()
  readonly #down = new ReplicaAmounts()
  /** Cached sum; undefined after a merge. */
  #value: number | undefined = 0

  /**
   * `replica` is a string of 1 to 256 bytes, valid as long as this state. A process that restarts without the state
   * must use a new one: under the old one, other replicas would take its new counts for counts they already have.
   * Throws `SLUICE_BAD_NAME`.
   */
  constructor(replica: string) {
    checkReplica(replica)
    this.replica = replica
  }

  /**
   * Creates a counter for `replica` from a state returned by `toJSON`. Throws `SLUICE_BAD_MESSAGE` and
   * `SLUICE_BAD_NAME`.
   */
  static fromJSON(state: unknown, replica: string): PNCounter {
    const counter = new PNCounter(replica)
    counter.merge(state as PNCounterState)
    return counter
  }

  /** Sum of all replicas, within ±(2^53 - 1). Throws `SLUICE_COUNTER_RANGE` if the merged counts leave that range. */
  get value(): number {
    this.#value ??= exactSum(this.#balances())
    return this.#value
  }

  /**
   * Adds `n`, an integer (default: 1), and returns the value. Throws `SLUICE_BAD_DELTA`, and `SLUICE_COUNTER_RANGE` if
   * the value would leave ±(2^53 - 1), or the total that this replica added or removed would exceed 2^53 - 1; then
   * nothing is counted.
   */
  increment(n = 1): number {
    checkDelta(n)
    const value = exactSum([this.value, n])
    if (n < 0) this.#down.add(this.replica, -n)
    else this.#up.add(this.replica, n)
    this.#value = value
    return value
  }

  /** Subtracts `n`, an integer (default: 1); otherwise like `increment`. */
  decrement(n = 1): number {
    checkDelta(n)
    return this.increment(-n)
  }

  /**
   * Merges the counts of `other`; repeated merges change nothing. Throws `SLUICE_BAD_MESSAGE` if it is not a
   * `PNCounter` or its state.
   */
  merge(other: PNCounter | PNCounterState): void {
    const { up, down } = stateOf(KIND, other) as { readonly up?: unknown; readonly down?: unknown }
    const [added, taken] = [checkedPairs(up), checkedPairs(down)]
    this.#up.merge(added)
    this.#down.merge(taken)
    this.#value = undefined
  }

  toJSON(): PNCounterState {
    return { kind: KIND, up: this.#up.pairs(), down: this.#down.pairs() }
  }

  *#balances(): Iterable<number> {
    for (const replica of this.#up.replicas) yield this.#up.of(replica) - this.#down.of(replica)
    for (const replica of this.#down.replicas) if (this.#up.of(replica) === 0) yield -this.#down.of(replica)
  }
}
