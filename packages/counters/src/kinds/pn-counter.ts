import { checkDelta } from '../counter-delta.ts'
import { exactSum } from './exact-sum.ts'
import { checkedPairs, checkReplica, ReplicaAmounts, type ReplicaPairs, stateOf } from './replica-amounts.ts'

const KIND = 'pn-counter'

/** A `PNCounter` as JSON: replicas in order, each with what it counted up and what it counted down, 0 to 2^53 - 1. */
export interface PNCounterState {
  readonly kind: 'pn-counter'
  readonly up: ReplicaPairs
  readonly down: ReplicaPairs
}

/**
 * A counter that goes up and down and needs nobody to agree: what each replica added and what it took grow apart, as in
 * two of `GCounter`, and the value is their difference. States may come twice, late and in any order.
 * Shapiro, Preguiça, Baquero, Zawirski: A comprehensive study of convergent and commutative replicated data types, 2011.
 */
export class PNCounter {
  readonly replica: string
  readonly #up = new ReplicaAmounts()
  readonly #down = new ReplicaAmounts()
  /** Undefined after a merge, until somebody asks. */
  #value: number | undefined = 0

  /**
   * `replica`: text of 1 to 256 bytes that lives as long as this state does. A process that starts anew without it takes
   * a new one: with the old one, others would hold its new counts for old ones. Throws `SLUICE_BAD_NAME`.
   */
  constructor(replica: string) {
    checkReplica(replica)
    this.replica = replica
  }

  /** A counter of `replica` that knows what `state` does, as `toJSON` gave it. Throws `SLUICE_BAD_MESSAGE` and `SLUICE_BAD_NAME`. */
  static fromJSON(state: unknown, replica: string): PNCounter {
    const counter = new PNCounter(replica)
    counter.merge(state as PNCounterState)
    return counter
  }

  /** Within ±(2^53 - 1). Throws `SLUICE_COUNTER_RANGE` where replicas that did not know of each other left it. */
  get value(): number {
    this.#value ??= exactSum(this.#balances())
    return this.#value
  }

  /**
   * Adds `n`, a whole number; default: 1. Answers the value. Throws `SLUICE_BAD_DELTA`, and `SLUICE_COUNTER_RANGE` where
   * the value would leave ±(2^53 - 1), or all that this replica ever added, or ever took, would pass 2^53 - 1; then
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

  /** Takes `n`, a whole number; default: 1. Otherwise like `increment`. */
  decrement(n = 1): number {
    checkDelta(n)
    return this.increment(-n)
  }

  /** What the other counted is part of this one from now on. Throws `SLUICE_BAD_MESSAGE` for what is no such state. */
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
