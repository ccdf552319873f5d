import { SluiceError, shown } from '@sluice/limiter-core/backend'
import { checkDelta } from '../counter-delta.ts'
import { exactSum } from './exact-sum.ts'
import { checkedPairs, checkReplica, ReplicaAmounts, type ReplicaPairs, stateOf } from './replica-amounts.ts'

const KIND = 'g-counter'

/** A `GCounter` as JSON: replicas in order, each with what it counted, 0 to 2^53 - 1. */
export interface GCounterState {
  readonly kind: 'g-counter'
  readonly amounts: ReplicaPairs
}

/**
 * A counter that only grows and needs nobody to agree: each replica counts in an entry of its own, two states merge by
 * the larger amount of each entry, and the value is the sum of all. States may come twice, late and in any order.
 * Shapiro, Preguiça, Baquero, Zawirski: A comprehensive study of convergent and commutative replicated data types, 2011.
 *
 * One entry for each replica that ever counted, and none is ever dropped.
 */
export class GCounter {
  readonly replica: string
  readonly #amounts = new ReplicaAmounts()
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
  static fromJSON(state: unknown, replica: string): GCounter {
    const counter = new GCounter(replica)
    counter.merge(state as GCounterState)
    return counter
  }

  /** 0 to 2^53 - 1. Throws `SLUICE_COUNTER_RANGE` where replicas that did not know of each other went beyond it. */
  get value(): number {
    this.#value ??= exactSum(this.#amounts.values)
    return this.#value
  }

  /**
   * Adds `n`, a whole number from 0; default: 1. Answers the value. Throws `SLUICE_BAD_DELTA`, and `SLUICE_COUNTER_RANGE`
   * where the value would pass 2^53 - 1; then nothing is counted.
   */
  increment(n = 1): number {
    checkDelta(n)
    if (n < 0) {
      const expected = 'a whole number from 0: a PNCounter counts down'
      throw new SluiceError('SLUICE_BAD_DELTA', `delta: expected ${expected}, received ${shown(n)}`)
    }
    const value = exactSum([this.value, n])
    this.#amounts.add(this.replica, n)
    this.#value = value
    return value
  }

  /** What the other counted is part of this one from now on. Throws `SLUICE_BAD_MESSAGE` for what is no such state. */
  merge(other: GCounter | GCounterState): void {
    const { amounts } = stateOf(KIND, other) as { readonly amounts?: unknown }
    this.#amounts.merge(checkedPairs(amounts))
    this.#value = undefined
  }

  toJSON(): GCounterState {
    return { kind: KIND, amounts: this.#amounts.pairs() }
  }
}
