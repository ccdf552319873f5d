import type { SketchBuffer } from '../sketch-buffer.ts'
import { described, SketchError } from '../sketch-error.ts'

const RUNNING = 0
const SINCE = 1

/** Later than this no whole ms is safe from rounding when a window is added: the year 144,680. */
const LATEST_MS = 2 ** 52

/**
 * The current unit of time. Unit u is [u · unitMs, (u + 1) · unitMs) of the caller's clock, so that sketches of
 * processes with one clock have the same units. Stored in the header of the sketch, because all state is in its
 * bytes.
 */
export class UnitClock {
  readonly unitMs: number
  /** The current unit, 0 in a new sketch. It never decreases. */
  running = 0
  /** When it ends. */
  endsMs = 0
  /** The unit of the first count; -1 where nothing was counted. */
  since = -1
  readonly #kept: SketchBuffer

  /** Throws `SLUICE_BAD_BYTES` if `kept` contains values that no sketch writes. */
  constructor(kept: SketchBuffer, unitMs: number) {
    this.#kept = kept
    this.unitMs = unitMs
    this.read()
  }

  /** Reads the head again. */
  read(): void {
    const running = this.#kept.float(RUNNING)
    const since = this.#kept.float(SINCE) - 1
    const honest = Number.isSafeInteger(running) && Number.isSafeInteger(since) && since >= -1 && since <= running
    if (!honest || running < 0 || running * this.unitMs > LATEST_MS) {
      throw new SketchError(
        'SLUICE_BAD_BYTES',
        `bytes: expected units that a sketch can have, received ${since} and ${running}`,
      )
    }
    this.running = running
    this.since = since
    this.endsMs = (running + 1) * this.unitMs
  }

  /**
   * Returns the unit of `nowMs`, at least the current one: a clock that steps back counts into it. Throws
   * `SLUICE_BAD_AMOUNT` if `nowMs` is not a number up to 2^52.
   */
  unitAt(nowMs: number): number {
    if (typeof nowMs === 'number') {
      if (nowMs < this.endsMs) return this.running
      if (nowMs <= LATEST_MS) return Math.floor(nowMs / this.unitMs)
    }
    throw new SketchError('SLUICE_BAD_AMOUNT', `time: expected milliseconds up to 2^52, received ${described(nowMs)}`)
  }

  begin(unit: number): void {
    this.running = unit
    this.endsMs = (unit + 1) * this.unitMs
    this.#kept.setFloat(RUNNING, unit)
  }

  /** Something was counted in `unit` for the first time. */
  beginCounting(unit: number): void {
    this.since = unit
    this.#kept.setFloat(SINCE, unit + 1)
  }

  /** Merges another clock at the same unit. */
  merge(since: number): void {
    if (since >= 0 && (this.since < 0 || since < this.since)) this.beginCounting(since)
  }
}
