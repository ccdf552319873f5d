import { described, SketchError } from './sketch-error.ts'
import type { SketchSeed } from './sketch-seed.ts'

/** Kind of a sketch in a buffer. Numbers are never reused. */
const SKETCH_KIND = {
  countMin: 1,
  estimator: 2,
  hyperLogLog: 3,
  spaceSaving: 4,
  heavyKeeper: 5,
  tDigest: 6,
  bloom: 7,
  blockedBloom: 8,
  countingBloom: 9,
  hokusaiTime: 10,
  hokusaiItem: 11,
  hokusai: 12,
  countRange: 13,
  redisBloomCountMin: 14,
} as const

export type SketchKind = keyof typeof SKETCH_KIND

/** Size of the header: one cache line, so that cells start on one. */
export const HEADER_BYTES = 64

// 'SLSK' read as little-endian: a machine of the other order reads another number and refuses
const MAGIC = 0x4b534c53
const VERSION = 1
const KIND_AT = 1
const SEED_AT = 2
const WORDS_AT = 4
const WORDS = 4
const FLOATS_AT = 4
const FLOATS = 4

/**
 * A sketch in one buffer, which is also its serialised form. Little-endian:
 *
 * 0 magic 'SLSK' 4 kind, version, two zero bytes 8 id of the seed, or 0
 *     16 four uint32: the shape 32 four float64 64 the data of the sketch
 */
export class SketchBuffer {
  readonly kind: SketchKind
  readonly buffer: ArrayBufferLike
  readonly #words: Uint32Array
  readonly #floats: Float64Array

  private constructor(kind: SketchKind, buffer: ArrayBufferLike) {
    this.kind = kind
    this.buffer = buffer
    this.#words = new Uint32Array(buffer, 0, HEADER_BYTES / 4)
    this.#floats = new Float64Array(buffer, 0, HEADER_BYTES / 8)
  }

  /** A new one, all zero but its head. `shape`: up to four uint32. `shared`: in memory that threads share. */
  static create(
    kind: SketchKind,
    keptBytes: number,
    { seed, shape, shared }: { seed?: SketchSeed | undefined; shape: readonly number[]; shared?: boolean | undefined },
  ): SketchBuffer {
    const bytes = HEADER_BYTES + keptBytes
    const made = new SketchBuffer(kind, shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes))
    made.#words[0] = MAGIC
    made.#words[KIND_AT] = SKETCH_KIND[kind] | (VERSION << 8)
    made.#words[SEED_AT] = seed?.idLow ?? 0
    made.#words[SEED_AT + 1] = seed?.idHigh ?? 0
    made.#words.set(shape, WORDS_AT)
    return made
  }

  /**
   * Copies a sketch from `bytes`. Nothing is allocated before they have been validated: the header here, and the
   * shape by `keptBytes`, which returns the data size of that shape, or `undefined` for an invalid one. Throws
   * `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` if they were counted with another seed.
   */
  static read(
    kind: SketchKind,
    bytes: unknown,
    keptBytes: (shape: readonly number[]) => number | undefined,
    seed?: SketchSeed,
  ): SketchBuffer {
    if (!ArrayBuffer.isView(bytes) || !(bytes instanceof Uint8Array))
      throw bad(`expected a Uint8Array, received ${described(bytes)}`)
    if (bytes.length < HEADER_BYTES) throw bad(`expected at least ${HEADER_BYTES} bytes, received ${bytes.length}`)
    // copied by the constructor: `slice` of a Buffer copies nothing
    const head = new Uint32Array(new Uint8Array(bytes.subarray(0, HEADER_BYTES)).buffer)
    if (head[0] !== MAGIC) throw bad('expected the result of toBytes(), received other bytes')
    if (head[KIND_AT] !== (SKETCH_KIND[kind] | (VERSION << 8)))
      throw bad(`expected a ${kind} of version ${VERSION}, received another kind or version`)
    const kept = keptBytes([...head.subarray(WORDS_AT, WORDS_AT + WORDS)])
    if (kept === undefined) throw bad(`expected a valid shape of a ${kind}, received another`)
    if (bytes.length !== HEADER_BYTES + kept)
      throw bad(`expected ${HEADER_BYTES + kept} bytes, received ${bytes.length}`)
    checkSeed(head[SEED_AT], head[SEED_AT + 1], seed)
    const read = new SketchBuffer(kind, new Uint8Array(bytes).buffer)
    // the validated header: another thread may have changed the one in shared memory since
    read.#words.set(head)
    return read
  }

  /** Over memory that another thread made and shares. Throws like `read`. */
  static attach(
    kind: SketchKind,
    buffer: SharedArrayBuffer,
    keptBytes: (shape: readonly number[]) => number | undefined,
    seed?: SketchSeed,
  ): SketchBuffer {
    if (!(buffer instanceof SharedArrayBuffer)) throw bad(`expected a SharedArrayBuffer, received ${described(buffer)}`)
    // validated on a copy, which no other thread can change
    SketchBuffer.read(kind, new Uint8Array(buffer).slice(), keptBytes, seed)
    return new SketchBuffer(kind, buffer)
  }

  /** The n-th number of its shape, of four. */
  shape(n: number): number {
    return this.#words[WORDS_AT + n]
  }

  /** The n-th of four float64 that the sketch may use as it likes. */
  float(n: number): number {
    return this.#floats[FLOATS_AT + n]
  }

  setFloat(n: number, value: number): void {
    this.#floats[FLOATS_AT + n] = value
  }

  /** Returns all four, for callers that write one at every call. */
  floats(): Float64Array {
    return this.#floats.subarray(FLOATS_AT, FLOATS_AT + FLOATS)
  }

  /** All zero again but the head. */
  clear(): void {
    new Uint8Array(this.buffer, HEADER_BYTES).fill(0)
    this.#floats.fill(0, FLOATS_AT, FLOATS_AT + FLOATS)
  }

  /** Whether merging makes sense: same kind, same shape, same seed. Throws `SLUICE_SKETCH_MISMATCH` where not. */
  checkMatch(other: SketchBuffer): void {
    for (let at = KIND_AT; at < WORDS_AT + WORDS; at++) {
      if (this.#words[at] === other.#words[at]) continue
      const what = at === KIND_AT ? 'kind' : at < WORDS_AT ? 'seed' : 'shape'
      throw new SketchError('SLUICE_SKETCH_MISMATCH', `the other ${this.kind} has another ${what}`)
    }
  }

  /** Returns a copy of everything, for `read`. */
  toBytes(): Uint8Array {
    return new Uint8Array(this.buffer).slice()
  }
}

function checkSeed(idLow: number, idHigh: number, seed: SketchSeed | undefined): void {
  if (idLow === (seed?.idLow ?? 0) && idHigh === (seed?.idHigh ?? 0)) return
  throw new SketchError('SLUICE_SKETCH_MISMATCH', 'these bytes were counted under another seed')
}

function bad(why: string): SketchError {
  return new SketchError('SLUICE_BAD_BYTES', why)
}
