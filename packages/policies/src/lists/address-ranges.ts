import type { Steps } from './steps.ts'

/** Ranges that a step reads, in about a millisecond. */
const STEP_RANGES = 2 ** 15
/** Fewer ranges than this are found as fast without an index, which takes 256 KB. */
const MIN_INDEXED = 4_096
const BUCKETS = 2 ** 16

/**
 * Ranges of addresses, in order. An address has `width` 32-bit words: one for IPv4, four for IPv6. Ranges that are part
 * of another range are left out. The range that begins last before an address is therefore the only one that can contain
 * it.
 */
export class AddressRanges {
  readonly #width: number
  /** First addresses. */
  readonly #words: Uint32Array
  /** Prefix lengths. */
  readonly #bits: Uint8Array
  /** For each 16 leading bits, the number of ranges that begin before. */
  readonly #buckets: Uint32Array | undefined

  private constructor(words: Uint32Array, bits: Uint8Array, buckets: Uint32Array | undefined) {
    this.#width = bits.length === 0 ? 1 : words.length / bits.length
    this.#words = words
    this.#bits = bits
    this.#buckets = buckets
  }

  /** Builds the ranges from sorted records of `width` words of the first address and a word of the prefix length. */
  static *from(records: Uint32Array, width: number): Steps<AddressRanges> {
    const size = width + 1
    const ranges = yield* withoutNested(records, width)
    const words = new Uint32Array(ranges * width)
    const bits = new Uint8Array(ranges)
    for (let range = 0; range < ranges; range++) {
      if (range % STEP_RANGES === 0) yield
      for (let word = 0; word < width; word++) words[range * width + word] = records[range * size + word]
      bits[range] = records[range * size + width]
    }
    return new AddressRanges(words, bits, ranges < MIN_INDEXED ? undefined : yield* bucketStarts(words, width))
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.#words.byteLength + this.#bits.byteLength + (this.#buckets?.byteLength ?? 0)
  }

  /** Whether a range contains the address. Unsigned words. */
  has(address: Uint32Array): boolean {
    const bucket = address[0] >>> 16
    let low = this.#buckets?.[bucket] ?? 0
    let high = this.#buckets?.[bucket + 1] ?? this.#bits.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#beginsAfter(middle, address)) high = middle
      else low = middle + 1
    }
    const range = low - 1
    return range >= 0 && haveSamePrefix(this.#words, range * this.#width, address, 0, this.#bits[range])
  }

  #beginsAfter(range: number, address: Uint32Array): boolean {
    const words = this.#words
    const width = this.#width
    for (let word = 0, at = range * width; word < width; word++, at++) {
      if (words[at] !== address[word]) return words[at] > address[word]
    }
    return false
  }
}

/** Moves the records that are part of no other record to the front, and returns their number. */
function* withoutNested(records: Uint32Array, width: number): Steps<number> {
  const size = width + 1
  let kept = 0
  for (let at = 0; at < records.length; at += size) {
    if (at % (STEP_RANGES * size) === 0) yield
    const last = (kept - 1) * size
    if (kept > 0 && haveSamePrefix(records, last, records, at, records[last + width])) continue
    if (kept * size < at) records.copyWithin(kept * size, at, at + size)
    kept++
  }
  return kept
}

/** Returns, for each 16 leading bits, the number of ranges that begin before. */
function* bucketStarts(words: Uint32Array, width: number): Steps<Uint32Array> {
  const starts = new Uint32Array(BUCKETS + 1)
  for (let at = 0; at < words.length; at += width) {
    if (at % (STEP_RANGES * width) === 0) yield
    starts[(words[at] >>> 16) + 1]++
  }
  for (let bucket = 0; bucket < BUCKETS; bucket++) starts[bucket + 1] += starts[bucket]
  return starts
}

function haveSamePrefix(some: Uint32Array, at: number, others: Uint32Array, otherAt: number, bits: number): boolean {
  let left = bits
  for (let word = 0; left > 0; word++, left -= 32) {
    const difference = some[at + word] ^ others[otherAt + word]
    if ((left >= 32 ? difference : difference >>> (32 - left)) !== 0) return false
  }
  return true
}
