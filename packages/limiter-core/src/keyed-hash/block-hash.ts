import { imul, joinedSums } from './joined-sums.ts'
import type { KeyWords } from './key-words.ts'

/**
 * Hashes keys that fit in one block. Sum j is start[j] + Σ block[i + j] · units[i] mod 2³². A unit of 16 bits holds
 * either two latin1 characters (the first one in the low byte) or one character of any kind. Unit 0 is the shape:
 * twice the length for latin1, twice the length plus one otherwise. The shape separates keys with equal units.
 */
export class BlockHash {
  low = 0
  high = 0
  readonly #start: Int32Array
  readonly #block: Int32Array
  readonly #sums: Int32Array = new Int32Array(4)
  /** Precomputed sums of the shape and the upper 32 bits, for integers from 0 to 2³² - 1. */
  readonly #above: Int32Array
  /** The same sums for integers from -2³² to -1. */
  readonly #below: Int32Array

  constructor({ start, block }: KeyWords) {
    this.#start = start
    this.#block = block
    this.#above = this.#integerSums(new Int32Array(4), 0)
    this.#below = this.#integerSums(new Int32Array(4), -1)
  }

  /** Hashes at most 512 latin1 characters. Returns false, without a valid result, if a character is not latin1. */
  protected packedBlock(key: string): boolean {
    const start = this.#start
    const block = this.#block
    const length = key.length
    // neighbouring units share words; keeping them in locals costs one load per unit
    let k0 = block[1]
    let k1 = block[2]
    let k2 = block[3]
    let a = start[0] + imul(block[0], 2 * length)
    let b = start[1] + imul(k0, 2 * length)
    let c = start[2] + imul(k1, 2 * length)
    let d = start[3] + imul(k2, 2 * length)
    let seen = 0
    // two units per iteration; units beyond the end are zero and add nothing
    for (let i = 0, at = 4; i < length; i += 4, at += 2) {
      const p = key.charCodeAt(i)
      const q = i + 1 < length ? key.charCodeAt(i + 1) : 0
      const r = i + 2 < length ? key.charCodeAt(i + 2) : 0
      const s = i + 3 < length ? key.charCodeAt(i + 3) : 0
      seen |= p | q | r | s
      const u = p | (q << 8)
      const v = r | (s << 8)
      const k3 = block[at]
      const k4 = block[at + 1]
      a = (a + imul(k0, u) + imul(k1, v)) | 0
      b = (b + imul(k1, u) + imul(k2, v)) | 0
      c = (c + imul(k2, u) + imul(k3, v)) | 0
      d = (d + imul(k3, u) + imul(k4, v)) | 0
      k0 = k2
      k1 = k3
      k2 = k4
    }
    this.low = joinedSums(a, b)
    this.high = joinedSums(c, d)
    return seen < 256
  }

  /** Hashes at most 256 characters of any kind. */
  protected wideBlock(key: string): void {
    const sums = this.#startSums(2 * key.length + 1)
    for (let i = 0; i < key.length; i++) this.#add(sums, i + 1, key.charCodeAt(i))
    this.#finish(sums)
  }

  /** Hashes at most 512 bytes. */
  protected byteBlock(key: Uint8Array): void {
    const sums = this.#startSums(2 * key.length)
    const pairs = key.length >> 1
    for (let i = 0; i < pairs; i++) this.#add(sums, i + 1, key[2 * i] | (key[2 * i + 1] << 8))
    if (key.length % 2 === 1) this.#add(sums, pairs + 1, key[key.length - 1])
    this.#finish(sums)
  }

  /** Hashes a safe integer as the four 16-bit units of its two's complement, the low units first. */
  integer(key: number): void {
    const block = this.#block
    const p = key & 0xffff
    const q = key >>> 16
    const k1 = block[1]
    const k2 = block[2]
    const k3 = block[3]
    const k4 = block[4]
    const k5 = block[5]
    const sums = this.#upper(key)
    this.low = joinedSums(sums[0] + imul(k1, p) + imul(k2, q), sums[1] + imul(k2, p) + imul(k3, q))
    this.high = joinedSums(sums[2] + imul(k3, p) + imul(k4, q), sums[3] + imul(k4, p) + imul(k5, q))
  }

  /** Returns the sums of the shape and the upper 32 bits; they are precomputed for keys from -2³¹ to 2³² - 1. */
  #upper(key: number): Int32Array {
    if ((key | 0) === key) return key < 0 ? this.#below : this.#above
    return key >>> 0 === key ? this.#above : this.#integerSums(this.#sums, Math.floor(key / 0x1_0000_0000))
  }

  #integerSums(sums: Int32Array, upper: number): Int32Array {
    const start = this.#start
    const block = this.#block
    const r = upper & 0xffff
    const s = upper >>> 16
    for (let j = 0; j < 4; j++) {
      sums[j] = start[j] + imul(block[j], INTEGER) + imul(block[j + 3], r) + imul(block[j + 4], s)
    }
    return sums
  }

  #startSums(shape: number): Int32Array {
    this.#sums.set(this.#start)
    this.#add(this.#sums, 0, shape)
    return this.#sums
  }

  #add(sums: Int32Array, i: number, unit: number): void {
    const block = this.#block
    sums[0] += imul(block[i], unit)
    sums[1] += imul(block[i + 1], unit)
    sums[2] += imul(block[i + 2], unit)
    sums[3] += imul(block[i + 3], unit)
  }

  #finish(sums: Int32Array): void {
    this.low = joinedSums(sums[0], sums[1])
    this.high = joinedSums(sums[2], sums[3])
  }
}

/** The shape of integers. No string or byte key has it, because the length of a block is at most 512. */
const INTEGER = 0xffff
