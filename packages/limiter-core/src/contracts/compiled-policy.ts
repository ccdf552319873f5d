import type { AlgorithmName, Policy } from './policy.ts'

/** Compiles policies. Zeroed cells are a new key for every algorithm. */
export interface Algorithm {
  readonly name: AlgorithmName
  /** Part of every stored name, so that two releases with different cells can run side by side. */
  readonly version: number
  /**
   * Compiles a policy. Throws a `SluiceError` if this algorithm cannot count it. `largestLimit` is the largest limit
   * that will use the same cells (plans); default: `policy.limit`. `chargedBeside` means that other variants charge
   * the same cells without a check, so that usage may exceed every limit; a policy without room for all of it keeps
   * the newest usage.
   */
  compile(policy: Policy, largestLimit?: number, chargedBeside?: boolean): CompiledPolicy
}

/** A policy with derived constants: a pure function of its cells. All numbers are finite doubles. */
export interface CompiledPolicy {
  readonly policy: Policy
  readonly version: number
  /** Float64 cells a key. All zero is a new key. */
  readonly cells: number
  /**
   * Cells that hold an instant; a reader with another clock shifts these. A cell with 0 holds none. Undefined if the
   * cells mean nothing to another process.
   */
  readonly instants?: readonly number[] | undefined
  /** For a log: the number of timestamps that fit. Undefined for other algorithms. */
  readonly room?: number
  /** The most units that a fresh key can give at once: `limit`, or `burst` where the algorithm has one. */
  readonly capacity: number
  /** Whole ms until `cost` fits: 0 fits now, Infinity never. Writes nothing. */
  waitMs(cells: Float64Array, at: number, now: number, cost: number): number
  /** Takes `cost`, which fits. */
  spend(cells: Float64Array, at: number, now: number, cost: number): void
  /**
   * Adds (positive) or refunds (negative) `units` to the take made at `takenAt`. A refund never raises a key above
   * its capacity and never lands in another window. Returns the units that were applied; a charge to a window that
   * has passed applies none.
   */
  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
  /** Whole units that fit now; 0 for a key in debt. */
  remaining(cells: Float64Array, at: number, now: number): number
  /** Milliseconds until the key is as good as new; 0 when it is. */
  resetAfterMs(cells: Float64Array, at: number, now: number): number
  /** Builds the cells of a key of which another backend knew that `used` units are spent and when it will be new again. */
  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
  /**
   * All variants, if plans with one policy name use several kinds of cells. A backend that reads `policy` instead of
   * calling the methods must read these too.
   */
  readonly variants?: readonly PolicyVariant[] | undefined
  /** Milliseconds until the cells hold nothing; `resetAfterMs` unless there are `variants`. */
  keptMs?(cells: Float64Array, at: number, now: number): number
}

/** The form of a policy in one or several plans, with its own cells. */
export interface PolicyVariant {
  readonly compiled: CompiledPolicy
  /** Offset of its cells among the cells of all variants. */
  readonly at: number
  /**
   * A take must fit the plan's `own` variant and every `larger` variant. It is charged to the `charged` variants
   * without a check.
   */
  readonly role: 'own' | 'larger' | 'charged'
  /** Units that drain in a millisecond; 0 where they end with a window. */
  readonly perMs: number
  /** The most units that a variant holds if it is only charged and drains. */
  readonly ceiling: number
}
