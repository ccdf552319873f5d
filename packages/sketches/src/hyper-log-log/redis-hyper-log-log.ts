import { foreignSketch } from '../foreign-sketch.ts'
import { keyBytes, keyText } from '../key-text.ts'
import { MurmurHash64A } from '../murmur-hash-64a.ts'
import type { Sketch } from '../sketch.ts'
import { checkOptions, wholeOption } from '../sketch-error.ts'
import type { SketchKey } from '../sketch-seed.ts'
import { ertlEstimate } from './ertl-estimate.ts'
import { FORM_HEADER_BYTES, MAX_RANK, readForm, stale, writeForm } from './redis-form.ts'
import { MAX_SPARSE_RANK, REGISTERS, SparseRuns } from './sparse-runs.ts'

// by its name: in a vm context, such as a jest test, each look-up of the global Math costs more than a whole hash
const clz32: typeof Math.clz32 = Math.clz32

/** Under which Redis hashes for its HyperLogLog. */
const REDIS_SEED = 0xadc83b19
const INDEX_BITS = 14
/** Redis's count is an int64: where no count is possible, its conversion yields this, and so the stale bit again. */
const MAX_COUNT = 2 ** 63

export interface RedisHyperLogLogOptions {
  /**
   * `hll-sparse-max-bytes` of the server whose bytes must be equal. Default: 3,000, as in Redis. 0 uses the dense
   * encoding from the start.
   */
  readonly sparseMaxBytes?: number | undefined
}

/**
 * The HyperLogLog of Redis 7 in this process: 16,384 registers, a standard error of 0.81 %. Its bytes equal those of
 * a server after the same `PFADD` commands, so that `SET` and `PFMERGE` can store them there and `PFCOUNT` of any
 * client reads them. A number is added as its string, as clients send it.
 *
 * Its hash has a public seed. An attacker who chooses keys can raise the count arbitrarily with a few thousand of
 * them, or choose keys that no count shows. Use `HyperLogLog` if untrusted clients choose keys.
 */
export class RedisHyperLogLog implements Sketch<RedisHyperLogLog> {
  readonly sparseMaxBytes: number
  readonly #hash: MurmurHash64A = new MurmurHash64A(REDIS_SEED)
  // the registers, and the runs that Redis would have while it had some
  #registers: Uint8Array = new Uint8Array(REGISTERS)
  #runs: SparseRuns | undefined = new SparseRuns()
  readonly #counts: Uint32Array = new Uint32Array(MAX_RANK + 1)
  #cacheLow = 0
  #cacheHigh: number = stale(0)

  /** An empty one, as `PFADD` makes it of no keys. Throws `SLUICE_BAD_OPTION`. */
  constructor(options: RedisHyperLogLogOptions = {}) {
    checkOptions('RedisHyperLogLog', options, ['sparseMaxBytes'])
    this.sparseMaxBytes = wholeOption('sparseMaxBytes', options.sparseMaxBytes ?? 3_000, 0, Number.MAX_SAFE_INTEGER)
    this.#counts[0] = REGISTERS
  }

  /**
   * Reads the reply of `GET` for a HyperLogLog, and the result of `toBytes`. A count cached by a server is kept but
   * not trusted. Throws `SLUICE_BAD_BYTES`.
   */
  static fromBytes(bytes: Uint8Array, options: RedisHyperLogLogOptions = {}): RedisHyperLogLog {
    const { registers, runs, cacheLow, cacheHigh } = readForm(bytes)
    const read = new RedisHyperLogLog(options)
    read.#registers = registers
    read.#runs = runs
    read.#cacheLow = cacheLow
    read.#cacheHigh = cacheHigh
    read.#recount()
    return read
  }

  /** `PFADD` of one key: whether that is news. False for a key that was there before, and for most keys once there were many. */
  add(key: SketchKey): boolean {
    const hash = this.#hash
    if (typeof key === 'string') hash.text(key)
    else if (ArrayBuffer.isView(key)) hash.bytes(keyBytes(key))
    else hash.text(keyText(key))
    const { low, high } = hash
    const register = low & (REGISTERS - 1)
    const rank = rankOf((low >>> INDEX_BITS) | (high << (32 - INDEX_BITS)), high >>> INDEX_BITS)
    if (rank <= this.#registers[register]) return false
    this.#raise(register, rank)
    this.#cacheHigh = stale(this.#cacheHigh)
    return true
  }

  /**
   * Returns the reply of `PFCOUNT`: the estimated number of different keys; at most 2^63, where Redis returns -2^63.
   * Does not change the bytes.
   */
  count(): number {
    return Math.min(Math.round(ertlEstimate(this.#counts, REGISTERS, MAX_RANK)), MAX_COUNT)
  }

  /**
   * Like `count`, and stores the result in the bytes as `PFCOUNT` does, so that the next `PFCOUNT` on a server is
   * answered from the cache.
   */
  cacheCount(): number {
    const count = this.count()
    this.#cacheLow = count % 2 ** 32
    this.#cacheHigh = Math.floor(count / 2 ** 32)
    return count
  }

  /** `PFMERGE` of `other` into this: afterwards it has the bytes that a server has after that. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: RedisHyperLogLog): void {
    const same = RedisHyperLogLog.#same(other)
    const theirs = same.#registers
    if (!same.#runs) this.#runs = undefined
    for (let register = 0; register < REGISTERS; register++) {
      if (theirs[register] > this.#registers[register]) this.#raise(register, theirs[register])
    }
    this.#cacheHigh = stale(this.#cacheHigh)
  }

  /**
   * Returns a sketch with what this one contains and `other` lacks; merged into `other` it adds the difference.
   * Undefined if there is no difference. Throws `SLUICE_SKETCH_MISMATCH`.
   */
  beyond(other: RedisHyperLogLog): RedisHyperLogLog | undefined {
    let found: RedisHyperLogLog | undefined
    const mine = this.#registers
    const theirs = RedisHyperLogLog.#same(other).#registers
    for (let register = 0; register < REGISTERS; register++) {
      if (mine[register] <= theirs[register]) continue
      found ??= new RedisHyperLogLog({ sparseMaxBytes: this.sparseMaxBytes })
      found.#raise(register, mine[register])
    }
    return found
  }

  clear(): void {
    this.#registers.fill(0)
    this.#runs = new SparseRuns()
    this.#cacheLow = 0
    this.#cacheHigh = stale(0)
    this.#recount()
  }

  /** The bytes that Redis would hold, for `SET`: 18 of an empty one, 12,304 once it is dense. */
  toBytes(): Uint8Array {
    return writeForm({
      registers: this.#registers,
      runs: this.#runs,
      cacheLow: this.#cacheLow,
      cacheHigh: this.#cacheHigh,
    })
  }

  static #same(other: RedisHyperLogLog): RedisHyperLogLog {
    return #registers in Object(other) ? other : foreignSketch(RedisHyperLogLog, other)
  }

  #raise(register: number, rank: number): void {
    this.#counts[this.#registers[register]]--
    this.#counts[rank]++
    this.#registers[register] = rank
    if (this.#runs && !this.#staysSparse(this.#runs, register, rank)) this.#runs = undefined
  }

  #staysSparse(runs: SparseRuns, register: number, rank: number): boolean {
    return rank <= MAX_SPARSE_RANK && runs.set(register, rank, this.sparseMaxBytes - FORM_HEADER_BYTES)
  }

  #recount(): void {
    this.#counts.fill(0)
    for (let register = 0; register < REGISTERS; register++) this.#counts[this.#registers[register]]++
  }
}

/**
 * Returns the position of the lowest 1 in the 50 bits that do not choose the register: 1 to 50, or 51 if there is
 * none.
 */
function rankOf(low: number, high: number): number {
  if (low !== 0) return 32 - clz32(low & -low)
  return high !== 0 ? 64 - clz32(high & -high) : MAX_RANK
}
