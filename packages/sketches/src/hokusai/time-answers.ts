import type { KeyRows } from '../key-rows.ts'
import { described, SketchError, wholeAmount } from '../sketch-error.ts'
import { BlockCover, type PastParts } from './block-cover.ts'
import { LaterCover } from './later-cover.ts'
import type { TimeBlocks } from './time-blocks.ts'
import type { UnitClock } from './unit-clock.ts'
import { WindowWait } from './window-wait.ts'

/**
 * What a query does with a block that it covers partly. `whole`: counts it completely, so that no result is too
 * small. `weighted`: counts the covered fraction, as if counts were spread evenly; may be too small or too large.
 * `none`: ignores it.
 */
export type PartialBlock = 'whole' | 'weighted' | 'none'

/**
 * Answers queries about the key at which `rows` were last aimed. A query for a later time is answered as if that time
 * had come, and changes nothing. Allocates nothing.
 */
export class TimeAnswers {
  readonly cover: BlockCover
  readonly #later: LaterCover
  readonly #rows: KeyRows
  readonly #clock: UnitClock
  readonly #wait: WindowWait
  readonly #retainUnits: number

  constructor(rows: KeyRows, blocks: TimeBlocks, clock: UnitClock) {
    this.#rows = rows
    this.#clock = clock
    this.cover = new BlockCover(blocks)
    this.#later = new LaterCover(blocks, this.cover)
    this.#wait = new WindowWait(blocks.shape, this.cover.from.length)
    this.#retainUnits = blocks.shape.retainUnits
  }

  /** Returns the count in the unit of `nowMs` and the `units` before it. */
  last(units: number, partial: PartialBlock, nowMs: number): number {
    const running = this.#clock.unitAt(nowMs)
    return this.#since(running, running - wholeAmount(units), partial)
  }

  /** Returns the count in one unit; undefined if it is no longer kept or has not started. */
  unit(unit: number, partial: PartialBlock): number | undefined {
    wholeAmount(unit)
    const { cover } = this
    cover.cut(this.#clock.running)
    const part = cover.partOf(unit)
    if (part < 0) return undefined
    const from = Math.max(cover.from[part], this.#clock.since)
    if (unit < from) return 0
    const units = cover.to[part] - from
    const count = cover.count(part, this.#rows.at)
    if (partial === 'weighted') return count / units
    return partial === 'none' && units > 1 ? 0 : count
  }

  /**
   * Returns the count in the last `windowMs`, never too small. Throws `SLUICE_SKETCH_UNSUPPORTED` if the window
   * exceeds what is kept.
   */
  window(windowMs: number, nowMs: number): number {
    this.#checkWindow(windowMs)
    const running = this.#clock.unitAt(nowMs)
    return this.#since(running, Math.floor((this.#now(nowMs) - windowMs) / this.#clock.unitMs), 'whole')
  }

  /**
   * Returns the milliseconds, an integer, until `window` is at most `most` if nothing is counted. Never too short.
   * Infinity if `most` is negative.
   */
  waitMs(most: number, windowMs: number, nowMs: number): number {
    const counted = this.window(windowMs, nowMs)
    if (!(typeof most === 'number' && most >= 0)) return Number.POSITIVE_INFINITY
    if (counted <= most) return 0
    const running = this.#clock.unitAt(nowMs)
    const cover = this.#cut(running)
    const at = this.#wait.find(this.#rows.at, { cover, running, most, windowMs, nowMs: this.#now(nowMs) })
    return Math.ceil(at - nowMs)
  }

  /** Writes the end in ms and the count of each part, the newest first; returns the number of parts. */
  parts(into: Float64Array, nowMs: number): number {
    const cover = this.#cut(this.#clock.unitAt(nowMs))
    let part = 0
    for (; part < cover.parts && cover.to[part] > this.#clock.since; part++) {
      into[2 * part] = cover.to[part] * this.#clock.unitMs
      into[2 * part + 1] = cover.count(part, this.#rows.at)
    }
    return part
  }

  /** Returns the first unit of the oldest part that `parts` writes, not before the first count. */
  oldest(nowMs: number): number {
    const cover = this.#cut(this.#clock.unitAt(nowMs))
    return Math.max(cover.from[cover.parts - 1], this.#clock.since)
  }

  #since(running: number, first: number, partial: PartialBlock): number {
    const cover = this.#cut(running)
    const { since } = this.#clock
    const { at } = this.#rows
    let sum = 0
    for (let part = 0; part < cover.parts; part++) {
      const to = cover.to[part]
      if (to <= first || to <= since) break
      const from = Math.max(cover.from[part], since)
      if (from >= first || partial === 'whole') sum += cover.count(part, at)
      else if (partial === 'weighted') sum += (cover.count(part, at) * (to - first)) / (to - from)
    }
    return sum
  }

  /** The past when `unit` runs: the one that runs, or a later one. */
  #cut(unit: number): PastParts {
    const { running } = this.#clock
    if (unit === running) {
      this.cover.cut(running)
      return this.cover
    }
    this.#later.cut(running, unit)
    return this.#later
  }

  // a clock that steps back counts as the start of the current unit
  #now(nowMs: number): number {
    return Math.max(nowMs, this.#clock.running * this.#clock.unitMs)
  }

  #checkWindow(windowMs: number): void {
    if (!(typeof windowMs === 'number' && windowMs > 0))
      throw new SketchError('SLUICE_BAD_AMOUNT', `window: expected milliseconds, received ${described(windowMs)}`)
    if (Math.ceil(windowMs / this.#clock.unitMs) <= this.#retainUnits) return
    const keptMs = this.#retainUnits * this.#clock.unitMs
    throw new SketchError(
      'SLUICE_SKETCH_UNSUPPORTED',
      `window: expected at most ${keptMs} ms, which this sketch keeps, received ${described(windowMs)}`,
    )
  }
}
