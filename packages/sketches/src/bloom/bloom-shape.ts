import { rateAfter } from './bloom-rate.ts'

/** Largest filter in bytes: 2³² bits, as many as can be addressed. */
export const MAX_BYTES: number = 2 ** 29
/** -log₂ of the least rate is 30. */
export const MAX_HASHES = 32
/** Bits of a line of a cache. A filter is a whole number of them. */
export const LINE_CELLS = 512

export interface BloomShape {
  /** A multiple of 512. */
  readonly cells: number
  /** Number of cells that a key uses. */
  readonly hashes: number
}

/** The fewest cells that keep `rate` at `capacity` keys, and how many of them a key takes. */
export function bloomShape(capacity: number, rate: number): BloomShape {
  const best = -Math.log2(rate)
  const fewer = shapeFor(capacity, rate, Math.max(1, Math.floor(best)))
  const more = shapeFor(capacity, rate, Math.ceil(best))
  return fewer.cells <= more.cells ? fewer : more
}

function shapeFor(capacity: number, rate: number, hashes: number): BloomShape {
  const cells = (-hashes * capacity) / Math.log1p(-(rate ** (1 / hashes)))
  let lines = Math.max(1, Math.ceil(cells / LINE_CELLS))
  // a small one needs some more than the formula, which is that of endless ones
  while (rateAfter(capacity * hashes, lines * LINE_CELLS, hashes) > rate) lines++
  return { cells: lines * LINE_CELLS, hashes }
}
