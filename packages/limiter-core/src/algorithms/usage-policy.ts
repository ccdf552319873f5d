import type { CompiledPolicy, Policy } from '../contracts.ts'
import { AVAILABLE_AFTER, REMAINING, RESET_AFTER, WAIT } from './verdict-numbers.ts'
import { firstWholeMs } from './whole-ms.ts'

/** Cells of keys, and other lists of numbers. */
export type Cells = Float64Array

/**
 * A policy of one algorithm. Its subclasses are the only text of the algorithms: `tools/build/kernel` translates them to
 * Lua for Redis and to PL/pgSQL. They are therefore written in a part of TypeScript that has a counterpart in both: numbers and booleans,
 * `cells[at + index]`, fields of numbers, private arrays of numbers, local variables, `if`, `while`, calls of their own
 * methods, of `Math` and of the functions in `whole-ms.ts`, and no `return` inside of a loop.
 */
export abstract class UsagePolicy implements CompiledPolicy {
  readonly policy: Policy
  abstract readonly cells: number
  readonly instants?: readonly number[] | undefined
  readonly capacity: number
  protected readonly windowMs: number

  constructor(policy: Policy, capacity: number) {
    this.policy = policy
    this.capacity = capacity
    this.windowMs = policy.windowMs
  }

  abstract waitMs(cells: Float64Array, at: number, now: number, cost: number): number
  abstract spend(cells: Float64Array, at: number, now: number, cost: number): void
  abstract adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
  abstract remaining(cells: Float64Array, at: number, now: number): number
  abstract resetAfterMs(cells: Float64Array, at: number, now: number): number
  /** Also used if the policy has no other cells than those of its algorithm. */
  keptMs(cells: Float64Array, at: number, now: number): number {
    return this.resetAfterMs(cells, at, now)
  }

  abstract adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void

  take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void {
    const waitMs = this.waitMs(cells, at, now, cost)
    if (waitMs === 0 && cost > 0) this.spend(cells, at, now, cost)
    this.numbers(cells, at, now, cost, waitMs, numbers)
  }

  /** Writes the numbers of a verdict: `waitMs`, which is the wait of `cost`, and those of the cells as they are. */
  numbers(cells: Float64Array, at: number, now: number, cost: number, waitMs: number, numbers: Float64Array): void {
    const remaining = this.remaining(cells, at, now)
    let availableMs = 0
    if (remaining < this.capacity) {
      // a denied cost of one unit more than what remains waits for the same time
      if (waitMs > 0 && cost === remaining + 1) availableMs = waitMs
      else availableMs = this.waitMs(cells, at, now, remaining + 1)
    }
    numbers[WAIT] = waitMs
    numbers[REMAINING] = remaining
    numbers[RESET_AFTER] = this.resetAfterMs(cells, at, now)
    numbers[AVAILABLE_AFTER] = availableMs
  }

  /** Whether `cost` fits at `now`. Needed by policies that call `firstFitMs`. */
  protected fits(_cells: Float64Array, _at: number, _now: number, _cost: number): boolean {
    return true
  }

  /** Returns the milliseconds, an integer, until `cost` fits: about `guess`, which may have rounding errors. */
  protected firstFitMs(cells: Float64Array, at: number, now: number, cost: number, guess: number): number {
    const ms = Math.max(1, Math.ceil(guess))
    const isExact = this.fits(cells, at, now + ms, cost) && (ms === 1 || !this.fits(cells, at, now + ms - 1, cost))
    return isExact ? ms : this.searchFitMs(cells, at, now, cost, ms)
  }

  /** A method of its own, because V8 would allocate the closure in each call of `firstFitMs`. */
  protected searchFitMs(cells: Float64Array, at: number, now: number, cost: number, guess: number): number {
    return firstWholeMs(guess, (ms) => this.fits(cells, at, now + ms, cost))
  }
}
