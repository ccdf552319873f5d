/**
 * What was counted of one key, by stretches of time that follow one another, the oldest first. One object, filled anew
 * for each key: read it before the next one is asked for.
 */
export class WindowSpans {
  /** When a stretch begins and ends, in ms. */
  readonly from: Float64Array
  readonly to: Float64Array
  /** Units of the key within it; `SATURATED` where nobody knows how many. */
  readonly units: Float64Array
  /** Stretches filled. */
  length = 0
  /** Where one of the windows that follow one another begins: those of `fixed-window`. */
  origin = 0

  constructor(most: number) {
    this.from = new Float64Array(most)
    this.to = new Float64Array(most)
    this.units = new Float64Array(most)
  }
}

/** Stands for the units of a cell that is full: more than any limit, and still exact in sums and differences. */
export const SATURATED: number = 2 ** 50
