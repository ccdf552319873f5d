/**
 * The counts of one key in consecutive parts of time, the oldest first. The object is reused for each key: read it
 * before the next query.
 */
export class WindowSpans {
  /** When a stretch begins and ends, in ms. */
  readonly from: Float64Array
  readonly to: Float64Array
  /** Units of the key in each part; `SATURATED` if unknown. */
  readonly units: Float64Array
  /** Stretches filled. */
  length = 0
  /** Start of a fixed window. */
  origin = 0

  constructor(most: number) {
    this.from = new Float64Array(most)
    this.to = new Float64Array(most)
    this.units = new Float64Array(most)
  }
}

/** Represents the units of a full cell: above any limit, and still exact in sums and differences. */
export const SATURATED: number = 2 ** 50
