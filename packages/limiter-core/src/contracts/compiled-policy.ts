import type { AlgorithmName, Policy } from './policy.ts'

/** Compiles policies. Zeroed cells are a new key for every algorithm. */
export interface Algorithm {
  readonly name: AlgorithmName
  /** Part of every stored name, so that two releases with different cells can run side by side. */
  readonly version: number
  /**
   * Throws a `SluiceError` where the policy is none that this algorithm can keep.
   * `largestLimit` is the largest limit that will ever meet the same cells (plans); default: `policy.limit`.
   * `chargedBeside`: others spend on the same cells without asking, so that more may be used than any limit; a policy
   * that has no room for all of it keeps what was used last.
   */
  compile(policy: Policy, largestLimit?: number, chargedBeside?: boolean): CompiledPolicy
}

/** One policy, its constants derived once: a pure function of its cells. All numbers are finite doubles. */
export interface CompiledPolicy {
  readonly policy: Policy
  readonly version: number
  /** Float64 cells a key. All zero is a new key. */
  readonly cells: number
  /**
   * Which cells hold an instant, 0 where they hold none: who reads them by another clock shifts these. Undefined where
   * cells mean nothing to another process.
   */
  readonly instants?: readonly number[] | undefined
  /** Of a log: units whose times it has places for; of others undefined. */
  readonly room?: number
  /** The most units that a fresh key can give at once: `limit`, or `burst` where the algorithm has one. */
  readonly capacity: number
  /** Whole ms until `cost` fits: 0 fits now, Infinity never. Writes nothing. */
  waitMs(cells: Float64Array, at: number, now: number, cost: number): number
  /** Takes `cost`, which fits. */
  spend(cells: Float64Array, at: number, now: number, cost: number): void
  /**
   * Charges (positive) or refunds (negative) `units` to the take made at `takenAt`. A refund never lifts a key above
   * its capacity nor lands in another window. Returns the units that found their place; a charge to a window that
   * has passed finds none.
   */
  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
  /** Whole units that fit now; 0 for a key in debt. */
  remaining(cells: Float64Array, at: number, now: number): number
  /** Milliseconds until the key is as good as new; 0 when it is. */
  resetAfterMs(cells: Float64Array, at: number, now: number): number
  /** Builds the cells of a key of which another backend knew that `used` units are spent and when it will be new again. */
  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
  /**
   * Where plans count a policy of one name by cells of several kinds: all of these, side by side. A backend that reads
   * `policy` instead of calling the rest reads these, too.
   */
  readonly variants?: readonly PolicyVariant[] | undefined
  /** Milliseconds until the cells hold nothing; `resetAfterMs` unless there are `variants`. */
  keptMs?(cells: Float64Array, at: number, now: number): number
}

/** What a policy is in one plan or several, with cells of its own. */
export interface PolicyVariant {
  readonly compiled: CompiledPolicy
  /** Where its cells begin among those of all variants. */
  readonly at: number
  /** A take must fit into the plan's own and into those of larger plans; it is charged to the others without asking. */
  readonly role: 'own' | 'larger' | 'charged'
  /** Units that drain in a millisecond; 0 where they end with a window. */
  readonly perMs: number
  /** Of one that is charged and drains: the most units that it holds. */
  readonly ceiling: number
}
