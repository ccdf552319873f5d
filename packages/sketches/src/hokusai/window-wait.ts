import type { PastParts } from './block-cover.ts'
import type { HokusaiShape } from './hokusai-shape.ts'

interface Wanted {
  /** The parts of the past when `running` runs. */
  readonly cover: PastParts
  readonly running: number
  /** 0 or more. */
  readonly most: number
  readonly windowMs: number
  readonly nowMs: number
}

/**
 * Computes when a window contains at most a given count of a key if nothing is counted. The start of a window
 * advances from block to block, and moves back when blocks merge into a higher level, so the first fitting instant is
 * searched among those at which it may advance. The estimate of a later division is at most the smallest row sum from
 * its start on, so the wait is never too short, and exact if no other key shares all cells.
 */
export class WindowWait {
  readonly #shape: HokusaiShape
  /** For each part and row: the count in it and in all newer parts. */
  readonly #sums: Float64Array

  /** `parts`: how many a cover may have. */
  constructor(shape: HokusaiShape, parts: number) {
    this.#shape = shape
    this.#sums = new Float64Array(parts * shape.depth)
  }

  /** The instant in ms, after `nowMs`. */
  find(at: Int32Array, { cover, running, most, windowMs, nowMs }: Wanted): number {
    this.#sum(cover, at)
    const { unitMs } = this.#shape
    const units = Math.ceil(windowMs / unitMs)
    const offsetMs = windowMs % unitMs
    const fewer = offsetMs > 0 ? units - 1 : units
    const span = this.#spanOf(fewer)
    for (let base = Math.floor(running / span) * span; ; base += span) {
      for (let turn = 0; turn < 3; turn++) {
        const unit = base + turnOf(turn, units, span)
        if (unit * unitMs > nowMs && this.#fits(cover, this.#startOf(unit, units), most)) return unit * unitMs
        if (unit * unitMs + offsetMs > nowMs && this.#fits(cover, this.#startOf(unit, fewer), most))
          return unit * unitMs + offsetMs
      }
    }
  }

  #sum(cover: PastParts, at: Int32Array): void {
    const depth = at.length
    for (let row = 0; row < depth; row++) {
      let sum = 0
      for (let part = 0; part < cover.parts; part++) {
        sum += cover.rowCount(part, at[row])
        this.#sums[part * depth + row] = sum
      }
    }
  }

  /** Returns the block length of the level in which a window of `units` starts, or half of it. */
  #spanOf(units: number): number {
    const { levels, perLevel } = this.#shape
    let span = 1
    for (let level = 1; level < levels && (perLevel + 1) * span - 1 < units; level++) span *= 2
    return span
  }

  /** Whether at most `most` is left of what started at `start` or later. */
  #fits(cover: PastParts, start: number, most: number): boolean {
    let part = cover.parts - 1
    while (part >= 0 && cover.from[part] < start) part--
    if (part < 0) return true
    const depth = this.#shape.depth
    let least = Number.POSITIVE_INFINITY
    for (let row = 0; row < depth; row++) {
      const sum = this.#sums[part * depth + row]
      if (sum < least) least = sum
    }
    return least <= most
  }

  /** Returns the start of the part that contains the first of the `units` before `unit`, at the time of `unit`. */
  #startOf(unit: number, units: number): number {
    const { levels, perLevel } = this.#shape
    const first = unit - units
    let span = 1
    for (let level = 1; level < levels; level++, span *= 2) {
      if (Math.floor(unit / span) - perLevel <= Math.floor(first / span)) break
    }
    return Math.floor(first / span) * span
  }
}

/** 0, and where a window of `units` or one less begins with a block. */
function turnOf(turn: number, units: number, span: number): number {
  if (turn === 0) return 0
  return turn === 1 ? (units + span - 1) % span : units % span
}
