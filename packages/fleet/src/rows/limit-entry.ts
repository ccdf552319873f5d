import { type CompiledPolicy, retentionMs } from '@sluice/limiter-core/backend'
import { isFloats } from './floats.ts'
import { cellsFrom, storedFrom } from './stored-cells.ts'

/** Time in ms that entries are kept after their end, because the clock of another machine may be behind. */
const SLACK_MS = 1_000
/** Number of stored numbers before the cells. */
const HEAD = 4

/**
 * The stored state of a key: its cells, and the times of its last reset and refund, because usage that was reported
 * earlier is invalid. The stored form is an array: end of the entry, time of the reset, time of the refund, end of
 * these two times, cells.
 */
export class LimitEntry {
  /** Time of the storage in ms after which the entry holds nothing. */
  keptUntil: number
  resetAt: number
  refundedAt: number
  #marksUntil: number
  #stored: ArrayLike<number> | undefined
  #compiled: CompiledPolicy | undefined
  #cells: Float64Array | undefined

  /** `stored`: the value in the storage; undefined for a new entry. Another value has no usable cells. */
  constructor(stored: unknown) {
    const isStored = isFloats(stored) && stored.length >= HEAD
    this.keptUntil = isStored ? stored[0] : 0
    this.resetAt = isStored ? stored[1] : 0
    this.refundedAt = isStored ? stored[2] : 0
    this.#marksUntil = isStored ? stored[3] : 0
    if (stored !== undefined) this.#stored = isStored ? stored.subarray(HEAD) : [Number.NaN]
  }

  /**
   * Returns the cells, which the caller may change before it calls `toStored`; undefined if they are unusable for the
   * policy.
   */
  cellsOf(compiled: CompiledPolicy): Float64Array | undefined {
    if (compiled === this.#compiled) return this.#cells
    // not from the cells of another policy, which may have no room for all units
    const cells = this.#stored ? cellsFrom(compiled, this.#stored) : new Float64Array(compiled.cells)
    if (cells) {
      this.#compiled = compiled
      this.#cells = cells
    }
    return cells
  }

  /** Removes all usage, and makes usage that was reported before invalid. `clock`: time of the storage. */
  reset(compiled: CompiledPolicy, now: number, clock: number): void {
    this.#compiled = compiled
    this.#cells = new Float64Array(compiled.cells)
    this.resetAt = now
    this.refundedAt = 0
    this.#marksUntil = clock + Math.ceil(retentionMs(compiled))
  }

  /** Makes usage of the key that was reported before a refund invalid, for as long as the usage lasts. */
  markRefund(now: number, untilClock: number): void {
    this.refundedAt = now
    this.#marksUntil = Math.max(this.#marksUntil, untilClock)
  }

  /** Units that an adjustment applied, if this is the entry of an idempotency id that has been used. */
  get applied(): number | undefined {
    return this.#stored?.[0]
  }

  /** Makes this the entry of a used idempotency id, and returns the value for the storage. */
  setApplied(units: number, keptUntil: number): Float64Array {
    this.#stored = [units]
    this.keptUntil = keptUntil
    return Float64Array.from([keptUntil, 0, 0, 0, units])
  }

  /** Returns the value for the storage of a key. `clock`: time of the storage. */
  toStored(now: number, clock: number): Float64Array {
    const compiled = this.#compiled as CompiledPolicy
    const cells = this.#cells as Float64Array
    const keptMs = compiled.keptMs(cells, 0, now)
    this.keptUntil = Math.max(clock + Math.ceil(keptMs), this.#marksUntil) + SLACK_MS
    const head = [this.keptUntil, this.resetAt, this.refundedAt, this.#marksUntil]
    const value = Float64Array.from([...head, ...storedFrom(compiled, cells)])
    this.#stored = value.subarray(HEAD)
    return value
  }
}
