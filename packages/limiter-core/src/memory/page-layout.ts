/** Slots of a set. */
export const WAYS: number = 8
/** Offset from the low half of a slot to its tag, in int32 elements. */
export const TAG: number = 8
/** Float64 elements before the cells of a set: eight low halves and eight tags of four bytes. */
export const CELLS: number = 8

// bits of a tag, from the highest: 22 of the high half of the hash, 2 for the number of the tail that remembers the
// key, 8 for its used fraction in 255ths
export const FRACTION = 0xff
/** Smallest used fraction, in 255ths of the limit, of heavy keys: when they are evicted, a tail remembers them. */
export const HEAVY = 128
const TAIL_SHIFT = 8
export const TAILS = 4
export const TAIL_BITS: number = (TAILS - 1) << TAIL_SHIFT

/** Largest page, in sets and in bytes. A page is the unit by which a shard grows. */
const MAX_SETS = 64
const MAX_BYTES = 40 * 1024
// overhead of two typed arrays and their buffer in V8
const OBJECTS_BYTES = 400

/** Returns the high half of a hash with the number of a tail in it. */
export function withTail(high: number, tail: number): number {
  return (high & ~TAIL_BITS) | (tail << TAIL_SHIFT)
}

export function tailOf(tag: number): number {
  return (tag & TAIL_BITS) >>> TAIL_SHIFT
}

/**
 * The memory layout of pages for keys with `cells` float64 cells. A set consists of eight low halves, eight tags, the
 * cells of eight keys and eight expiry ticks, so that a look-up reads adjacent memory. After the sets follows one bit
 * per set: whether keys have overflowed from it to their second set.
 */
export class PageLayout {
  readonly cells: number
  /** A power of two. */
  readonly sets: number
  /** log2 of `sets`. */
  readonly bits: number
  /** Int32 elements of a set. */
  readonly stride: number
  /** Offset from the low half of a slot to its expiry tick, in int32 elements. */
  readonly expiry: number
  /** Bytes of a page's buffer. */
  readonly bufferBytes: number

  constructor(cells: number) {
    const setBytes = WAYS * (3 * 4 + 8 * cells)
    this.cells = cells
    this.bits = Math.floor(Math.log2(Math.max(1, Math.min(MAX_SETS, MAX_BYTES / setBytes))))
    this.sets = 1 << this.bits
    this.stride = setBytes / 4
    this.expiry = this.stride - WAYS
    this.bufferBytes = this.sets * setBytes + MAX_SETS / 8
  }

  /** Number of keys in a full page. */
  get slots(): number {
    return this.sets * WAYS
  }

  /** Bytes of a page including the overhead of V8. */
  get bytes(): number {
    return this.bufferBytes + OBJECTS_BYTES
  }
}
