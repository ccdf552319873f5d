/** A seeded 64-bit hash. The object holds one result, in `low` and `high`; read it before the next call. */
export interface KeyedHash {
  /** Lower half of the last result, as an int32 (which engines store unboxed). Uniform, and independent of `high`. */
  low: number
  /** Upper half of the last result, as an int32. */
  high: number
  /**
   * Hashes any string; lone surrogates, NUL and `__proto__` need no special care. Allocates nothing for keys of up to
   * 256 characters.
   */
  text(key: string): void
  /** Hashes bytes. The result equals `text` of the latin1 string of the same bytes. */
  bytes(key: Uint8Array): void
  /**
   * Hashes a safe integer. Any other number hashes like some safe integer. Integers, strings and bytes are different
   * keys: the hash of 7 is independent of the hash of `'7'`.
   */
  integer(key: number): void
}
