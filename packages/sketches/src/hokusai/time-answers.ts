import type { KeyRows } from '../key-rows.ts'
import { described, SketchError, wholeAmount } from '../sketch-error.ts'
import { BlockCover, type PastParts } from './block-cover.ts'
import { LaterCover } from './later-cover.ts'
import type { TimeBlocks } from './time-blocks.ts'
import type { UnitClock } from './unit-clock.ts'
import { WindowWait } from './window-wait.ts'

/**
 * What becomes of a stretch of time that a question cuts in two. `whole`: it counts whole, so that no answer is too
 * small. `weighted`: as if its counts were spread evenly over it; too small or too large. `none`: it is left out.
 */
export type PartialBlock = 'whole' | 'weighted' | 'none'

/**
 * What blocks say of the key that `rows` were last aimed at. A question about a later time than that which runs is
 * answered as if it had come, and moves nothing. Allocates nothing.
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

  /** In the unit of `nowMs` and `units` before it. */
  last(units: number, partial: PartialBlock, nowMs: number): number {
    const running = this.#clock.unitAt(nowMs)
    return this.#since(running, running - wholeAmount(units), partial)
  }

  /** In one unit; undefined where it is no longer kept, or has not begun. */
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

  /** In the last `windowMs`, never too small. Throws `SLUICE_SKETCH_UNSUPPORTED` where so much is not kept. */
  window(windowMs: number, nowMs: number): number {
    this.#checkWindow(windowMs)
    const running = this.#clock.unitAt(nowMs)
    return this.#since(running, Math.floor((this.#now(nowMs) - windowMs) / this.#clock.unitMs), 'whole')
  }

  /** Whole ms until `window` is `most` or less, if nothing comes. Never too short. Infinity for less than 0. */
  waitMs(most: number, windowMs: number, nowMs: number): number {
    const counted = this.window(windowMs, nowMs)
    if (!(typeof most === 'number' && most >= 0)) return Number.POSITIVE_INFINITY
    if (counted <= most) return 0
    const running = this.#clock.unitAt(nowMs)
    const cover = this.#cut(running)
    const at = this.#wait.find(this.#rows.at, { cover, running, most, windowMs, nowMs: this.#now(nowMs) })
    return Math.ceil(at - nowMs)
  }

  /** Writes when each part ended, in ms, and its count, newest first; answers how many parts. */
  parts(into: Float64Array, nowMs: number): number {
    const cover = this.#cut(this.#clock.unitAt(nowMs))
    let part = 0
    for (; part < cover.parts && cover.to[part] > this.#clock.since; part++) {
      into[2 * part] = cover.to[part] * this.#clock.unitMs
      into[2 * part + 1] = cover.count(part, this.#rows.at)
    }
    return part
  }

  /** The first unit of the oldest part that `parts` writes, but none before the first count. */
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

  // a clock that steps back stands at the start of the running unit
  #now(nowMs: number): number {
    return Math.max(nowMs, this.#clock.running * this.#clock.unitMs)
  }

  #checkWindow(windowMs: number): void {
    if (!(typeof windowMs === 'number' && windowMs > 0))
      throw new SketchError('SLUICE_BAD_AMOUNT', `expected a window in ms, received ${described(windowMs)}`)
    if (Math.ceil(windowMs / this.#clock.unitMs) <= this.#retainUnits) return
    const keptMs = this.#retainUnits * this.#clock.unitMs
    throw new SketchError(
      'SLUICE_SKETCH_UNSUPPORTED',
      `got a window of ${described(windowMs)} ms, and keeps ${keptMs} ms`,
    )
  }
}
