// How a page of the table lies in memory.

/** Ways of a set: how many keys share the eight places that a hash points at. */
export const WAYS: number = 8
/** Sets of a page, as a power of two; a page is what a shard grows by. */
export const PAGE_BITS: number = 6
export const SETS: number = 1 << PAGE_BITS
export const IN_PAGE: number = SETS - 1
/** From the low lane of a slot to its tag: the high lane, and in the low byte the used fraction in 255ths. */
export const TAG: number = WAYS
/** Float64 elements before the cells of a set: eight low lanes and eight tags of four bytes. */
export const CELLS: number = WAYS
// one bit a set, behind the sets of a page: a key of this set lives in its second set
export const OVERFLOW_BYTES: number = SETS / 8
// two typed arrays and their buffer, as V8 keeps them
const PAGE_OBJECTS_BYTES = 400

/** The fraction takes the low byte of the tag; the rest is the high lane of the fingerprint. */
export const FRACTION = 0xff
/** Keys that a page has room for. */
export const PAGE_SLOTS: number = SETS * WAYS

/** Bytes of one set: for each way low lane, tag and expiry tick of four bytes, and the cells between them. */
export function setBytes(cells: number): number {
  return WAYS * (3 * 4 + 8 * cells)
}

/** Bytes of one page with `cells` float64 cells a key. */
export function pageBytes(cells: number): number {
  return SETS * setBytes(cells) + OVERFLOW_BYTES + PAGE_OBJECTS_BYTES
}
