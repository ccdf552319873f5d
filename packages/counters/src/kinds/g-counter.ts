import { SluiceError, shown } from '@sluice/limiter-core/backend'
import { checkDelta } from '../counter-delta.ts'
import { exactSum } from './exact-sum.ts'
import { checkedPairs, checkReplica, ReplicaAmounts, type ReplicaPairs, stateOf } from './replica-amounts.ts'

const KIND = 'g-counter'

/** JSON form of a `GCounter`: each replica with its count, 0 to 2^53 - 1, sorted by replica. */
export interface GCounterState {
  readonly kind: 'g-counter'
  readonly amounts: ReplicaPairs
}

/**
 * Grow-only counter that needs no coordination. Each replica counts in its own entry, a merge keeps the larger amount
 * of each entry, and the value is the sum of all entries. States can be merged repeatedly, late and in any order.
 * Source: Shapiro, Preguiça, Baquero, Zawirski: A comprehensive study of convergent and commutative replicated data
 * types, 2011.
 *
 * It keeps one entry for each replica that ever counted; entries are never removed.
 */
export class GCounter {
  readonly replica: string
  readonly #amounts = new ReplicaAmounts()
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
  static fromJSON(state: unknown, replica: string): GCounter {
    const counter = new GCounter(replica)
    counter.merge(state as GCounterState)
    return counter
  }

  /** Sum of all replicas, 0 to 2^53 - 1. Throws `SLUICE_COUNTER_RANGE` if the merged counts exceed that range. */
  get value(): number {
    this.#value ??= exactSum(this.#amounts.values)
    return this.#value
  }

  /**
   * Adds `n`, an integer from 0 (default: 1), and returns the value. Throws `SLUICE_BAD_DELTA`, and
   * `SLUICE_COUNTER_RANGE` if the value would exceed 2^53 - 1; then nothing is counted.
   */
  increment(n = 1): number {
    checkDelta(n)
    if (n < 0) {
      const expected = 'an integer from 0 (use a PNCounter to count down)'
      throw new SluiceError('SLUICE_BAD_DELTA', `delta: expected ${expected}, received ${shown(n)}`)
    }
    const value = exactSum([this.value, n])
    this.#amounts.add(this.replica, n)
    this.#value = value
    return value
  }

  /**
   * Merges the counts of `other`; repeated merges change nothing. Throws `SLUICE_BAD_MESSAGE` if it is not a `GCounter`
   * or its state.
   */
  merge(other: GCounter | GCounterState): void {
    const { amounts } = stateOf(KIND, other) as { readonly amounts?: unknown }
    this.#amounts.merge(checkedPairs(amounts))
    this.#value = undefined
  }

  toJSON(): GCounterState {
    return { kind: KIND, amounts: this.#amounts.pairs() }
  }
}
