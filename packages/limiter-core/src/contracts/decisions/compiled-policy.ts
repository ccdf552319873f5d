import type { AlgorithmName, Policy } from './policy.ts'

/** Compiles policies of one algorithm. */
export interface Algorithm {
  readonly name: AlgorithmName
  /** Part of every stored name, so that two releases with different cell layouts can run side by side. */
  readonly version: number
  /**
   * Returns the compiled policy. Throws a `SluiceError` if this algorithm cannot count the policy.
   *
   * `largestLimit` is the largest limit that will use the same cells, for plans and overrides. Default:
   * `policy.limit`. `chargedBeside` means that other plans charge the same cells without checking this policy, so
   * usage may exceed its limit; if the cells have no room for all usage, the newest is kept. Default: false.
   */
  compile(policy: Policy, largestLimit?: number, chargedBeside?: boolean): CompiledPolicy
}

/**
 * A policy with its derived constants. It has no state: the state of a key is `cells` numbers in `cells[at]` and
 * following, which its methods read and write. All numbers are finite doubles.
 */
export interface CompiledPolicy {
  readonly policy: Policy
  /** Number of Float64 cells per key. Cells that are all zero are an unused key. */
  readonly cells: number
  /**
   * Indexes of the cells that hold a time, or 0 for none. A reader with another clock must shift these cells. Undefined
   * if another process cannot interpret the cells.
   */
  readonly instants?: readonly number[] | undefined
  /** Maximum number of timestamps in a log; undefined for other algorithms. */
  readonly room?: number
  /** Units that an unused key admits at once: `burst` if the policy has one, otherwise `limit`. */
  readonly capacity: number
  /** Returns the milliseconds, an integer, until `cost` fits: 0 if it fits now, Infinity if never. Changes nothing. */
  waitMs(cells: Float64Array, at: number, now: number, cost: number): number
  /**
   * Takes `cost` units if they fit, and writes the numbers of the verdict to `numbers`: `waitMs` before the take, then
   * `remaining`, `resetAfterMs` and `availableAfterMs` after it. Equal to the calls of the other methods, in one pass.
   */
  take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void
  /** Like `take`, without taking: `waitMs` is the wait of `cost`, and the other numbers are those of the cells. */
  numbers(cells: Float64Array, at: number, now: number, cost: number, waitMs: number, numbers: Float64Array): void
  /** Takes `cost` units. The caller has checked that they fit. */
  spend(cells: Float64Array, at: number, now: number, cost: number): void
  /**
   * Adds `units` to the take made at `takenAt`; negative units are a refund. A refund never raises `remaining` above
   * the capacity and never applies to another window. A `takenAt` in the future means now, except for a take before the
   * clock was set back. Returns the units that were applied; 0 for a window that has passed.
   */
  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
  /** Returns the integer units that fit now; 0 for a key in debt. */
  remaining(cells: Float64Array, at: number, now: number): number
  /** Returns the milliseconds until the key is unused again; 0 for an unused key. */
  resetAfterMs(cells: Float64Array, at: number, now: number): number
  /** Writes the cells of a key for which another backend reported `used` units and `resetAfterMs`. */
  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
  /**
   * All variants, if plans with the same policy name have different cell layouts. A backend that reads `policy`
   * instead of calling the methods must read these too.
   */
  readonly variants?: readonly PolicyVariant[] | undefined
  /** Returns the milliseconds until the cells hold nothing: `resetAfterMs`, or more with `variants` and `bookings`. */
  keptMs(cells: Float64Array, at: number, now: number): number
  /** Holds of the policy; undefined if units cannot be held. All other methods count held units as used. */
  readonly holds?: PolicyHolds | undefined
  /** Booked turns of the policy; undefined if denied callers do not book. */
  readonly bookings?: PolicyBookings | undefined
}

/** Books turns for denied takes. Changes the cells of the policy that has the bookings. */
export interface PolicyBookings {
  /** The policy without the cells of bookings, which come last. */
  readonly inner: CompiledPolicy
  /** Milliseconds between the turns of two units. */
  readonly paceMs: number
  /** Largest number of units that a key can book. */
  readonly most: number
  /** Longest time in milliseconds until the end of a queue, beside `paceMs` for each unit, for a key without debt. */
  readonly longestMs: number
  /** Whether a unit counts less, the later it is in the epoch that follows its own. */
  readonly isWeighted: boolean
  /**
   * Books the turn that `waitMs` has returned for a take of `cost` units. Books nothing if the take fits, never fits,
   * or would exceed `most`. Returns whether the cells have changed.
   */
  book(cells: Float64Array, at: number, now: number, cost: number): boolean
  /** Moves the queue on for a take of `cost` units that has its turn. For holds; `spend` does it for units that are used. */
  pass(cells: Float64Array, at: number, now: number, cost: number): void
  /** Returns the milliseconds until the usage of a key and its next turn are over: at most `keptMs`. */
  untilNextMs(cells: Float64Array, at: number, now: number): number
}

/** Holds units of a key for work whose cost is not known yet. Changes the cells of the policy that has the holds. */
export interface PolicyHolds {
  /** The policy without the cells of holds, which come last. */
  readonly inner: CompiledPolicy
  /** Units that are held together end together, at a multiple of this many milliseconds. */
  readonly sliceMs: number
  /** Returns the time at which units end that are held now: at least `forMs` from now, and at most `sliceMs` later. */
  endsAt(now: number, forMs: number): number
  /** Returns how many of the units that a hold until `endsAt` held are still held. */
  heldOf(cells: Float64Array, at: number, now: number, units: number, endsAt: number): number
  /** Holds units. The caller has checked that they fit. `endsAt` is a result of the method `endsAt`. */
  hold(cells: Float64Array, at: number, now: number, units: number, endsAt: number): void
  /**
   * Returns held units to the key, except those whose time has passed, which have returned already. Returns the number
   * of units that it returned.
   */
  release(cells: Float64Array, at: number, now: number, units: number, endsAt: number): number
}

/** A cell layout of a policy that has different forms in different plans. */
export interface PolicyVariant {
  readonly compiled: CompiledPolicy
  /** Offset of the variant's cells within the cells of all variants. */
  readonly at: number
  /**
   * How a take uses the variant. A take must fit the plan's `own` variant and every `larger` variant; `charged`
   * variants are charged without a check.
   */
  readonly role: 'own' | 'larger' | 'charged'
  /** Units that drain per millisecond; 0 for a window, whose units end together. */
  readonly perMs: number
  /** Maximum number of units that a `charged` variant holds if it drains. */
  readonly ceiling: number
}
