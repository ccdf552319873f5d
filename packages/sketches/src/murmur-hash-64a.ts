import { TextEncoder } from 'node:util'

// by its name: in a vm context, such as a jest test, each look-up of the global Math costs more than a whole hash

const imul: typeof Math.imul = Math.imul

// the halves of the multiplier 0xc6a4a7935bd1e995, and those of its low half
const HIGH = 0xc6a4a793
const LOW = 0x5bd1e995
const LOW_HIGH = 0x5bd1
const LOW_LOW = 0xe995

/** Strings up to this length are hashed without allocating memory, whatever characters they contain. */
const KEPT_CHARACTERS = 1_365

const encoder = new TextEncoder()
const encoded = new Uint8Array(3 * KEPT_CHARACTERS)

/**
 * MurmurHash64A (Austin Appleby, public domain) as used by Redis and RedisBloom, in 32-bit parts, because a `bigint`
 * allocates memory. With the seed of Redis's HyperLogLog, 0xadc83b19, `a` hashes to 0x53d2470a9b43b1a7.
 *
 * Only for compatibility: with a known seed, any number of keys with one hash can be found.
 */
export class MurmurHash64A {
  /** Hash of the last key: two int32, so that they stay small integers. */
  low = 0
  high = 0
  /** Seed for the next key: 64 bits as two int32. */
  seedLow: number
  seedHigh: number

  constructor(seedLow: number, seedHigh = 0) {
    this.seedLow = seedLow | 0
    this.seedHigh = seedHigh | 0
  }

  /** The UTF-8 form of `key`, in which lone surrogates are all U+FFFD, as clients of Redis send them. */
  text(key: string): void {
    if (this.#ascii(key)) return
    if (key.length > KEPT_CHARACTERS) this.bytes(encoder.encode(key))
    else this.#utf8(encoded, encoder.encodeInto(key, encoded).written)
  }

  bytes(key: Uint8Array): void {
    this.#utf8(key, key.length)
  }

  /** False, and no hash, where a character is not ASCII. */
  #ascii(key: string): boolean {
    const { length } = key
    this.#begin(length)
    let seen = 0
    let at = 0
    for (; at + 8 <= length; at += 8) {
      const a = key.charCodeAt(at)
      const b = key.charCodeAt(at + 1)
      const c = key.charCodeAt(at + 2)
      const d = key.charCodeAt(at + 3)
      const e = key.charCodeAt(at + 4)
      const f = key.charCodeAt(at + 5)
      const g = key.charCodeAt(at + 6)
      const h = key.charCodeAt(at + 7)
      seen |= a | b | c | d | e | f | g | h
      this.#block(a | (b << 8) | (c << 16) | (d << 24), e | (f << 8) | (g << 16) | (h << 24))
    }
    let low = 0
    let high = 0
    for (let i = at; i < length; i++) {
      const code = key.charCodeAt(i)
      seen |= code
      if (i < at + 4) low |= code << (8 * (i - at))
      else high |= code << (8 * (i - at - 4))
    }
    this.#end(low, high, at < length)
    return seen < 0x80
  }

  #utf8(bytes: Uint8Array, length: number): void {
    this.#begin(length)
    let at = 0
    for (; at + 8 <= length; at += 8) {
      const low = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
      const high = bytes[at + 4] | (bytes[at + 5] << 8) | (bytes[at + 6] << 16) | (bytes[at + 7] << 24)
      this.#block(low, high)
    }
    let low = 0
    let high = 0
    for (let i = at; i < length; i++) {
      if (i < at + 4) low |= bytes[i] << (8 * (i - at))
      else high |= bytes[i] << (8 * (i - at - 4))
    }
    this.#end(low, high, at < length)
  }

  #begin(length: number): void {
    this.low = this.seedLow ^ imul(length, LOW)
    this.high = this.seedHigh ^ multipliedHigh(length, 0)
  }

  #block(low: number, high: number): void {
    const onceHigh = multipliedHigh(low, high)
    const onceLow = imul(low, LOW) ^ (onceHigh >>> 15)
    this.#mix(imul(onceLow, LOW), multipliedHigh(onceLow, onceHigh))
  }

  /** `rest`: whether bytes are left that make no block. */
  #end(low: number, high: number, rest: boolean): void {
    if (rest) this.#mix(low, high)
    this.low ^= this.high >>> 15
    this.#mix(0, 0)
    this.low ^= this.high >>> 15
  }

  #mix(low: number, high: number): void {
    const mixed = this.low ^ low
    this.high = multipliedHigh(mixed, this.high ^ high)
    this.low = imul(mixed, LOW)
  }
}

/** The high half of a number of 64 bits times the multiplier; the low one is `imul(low, LOW)`. */
function multipliedHigh(low: number, high: number): number {
  const a = low & 0xffff
  const b = low >>> 16
  // none of these sums of partial products exceeds 32 bits
  const first = (imul(b, LOW_LOW) + (imul(a, LOW_LOW) >>> 16)) | 0
  const second = (imul(a, LOW_HIGH) + (first & 0xffff)) | 0
  const carried = (first >>> 16) + (second >>> 16)
  return (imul(b, LOW_HIGH) + carried + imul(high, LOW) + imul(low, HIGH)) | 0
}
