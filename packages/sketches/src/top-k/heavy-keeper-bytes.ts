import { MAX_ROWS } from '../key-rows.ts'
import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { SketchError } from '../sketch-error.ts'
import type { SketchSeed } from '../sketch-seed.ts'
import { isDecay } from './decay.ts'
import { type HeavyKeeperShape, MAX_BUCKETS } from './heavy-keeper-options.ts'
import { MAX_KEY_BYTES, readKeys, writeKeys } from './key-bytes.ts'
import { MAX_KEYS } from './ranked-keys.ts'

/** One of the most frequent keys. */
export interface HeavyKey {
  /** A key of more than 256 characters is shown as its first 256, '…' and a digest. */
  readonly key: string
  /** Count of the key, or less. */
  readonly count: number
}

/** The complete state of a HeavyKeeper except its seed. */
export interface HeavyKeeperState extends HeavyKeeperShape {
  /** State of its generator, a uint32. */
  readonly drawn: number
  readonly total: number
  readonly fingerprints: Uint32Array
  readonly counts: Uint32Array
  /** In heap order. */
  readonly counted: readonly HeavyKey[]
}

// a fingerprint and a count, and a count of a key
const BUCKET_BYTES = 8
const COUNTED_BYTES = 8

/**
 * Shape: k, width, depth, bytes after the buckets. Floats: total, decay, state of the generator, keys. Then uint32
 * fingerprints and uint32 counts of all buckets; float64 counts of the keys and the list of them, in heap order.
 */
export function writeHeavyKeeper(state: HeavyKeeperState, seed: SketchSeed): Uint8Array {
  const { k, width, depth, counted } = state
  const buckets = width * depth
  const list = writeKeys(counted.map(({ key }) => key))
  const rest = COUNTED_BYTES * counted.length + list.length
  const made = SketchBuffer.create('heavyKeeper', BUCKET_BYTES * buckets + rest, {
    seed,
    shape: [k, width, depth, rest],
  })
  for (const [n, value] of [state.total, state.decay, state.drawn, counted.length].entries()) made.setFloat(n, value)
  new Uint32Array(made.buffer, HEADER_BYTES, buckets).set(state.fingerprints)
  new Uint32Array(made.buffer, HEADER_BYTES + 4 * buckets, buckets).set(state.counts)
  const from = HEADER_BYTES + BUCKET_BYTES * buckets
  new Float64Array(made.buffer, from, counted.length).set(counted.map(({ count }) => count))
  new Uint8Array(made.buffer, from + COUNTED_BYTES * counted.length).set(list)
  return new Uint8Array(made.buffer as ArrayBuffer)
}

/** Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` where they were counted under another seed. */
export function readHeavyKeeper(bytes: Uint8Array, seed: SketchSeed): HeavyKeeperState {
  const read = SketchBuffer.read('heavyKeeper', bytes, keptBytes, seed)
  const [k, width, depth, rest] = [0, 1, 2, 3].map((n) => read.shape(n))
  const [total, decay, drawn, size] = [0, 1, 2, 3].map((n) => read.float(n))
  const buckets = width * depth
  const from = HEADER_BYTES + BUCKET_BYTES * buckets
  if (
    !isWhole(size, 0, Math.min(k, Math.floor(rest / (COUNTED_BYTES + 4)))) ||
    rest > size * (COUNTED_BYTES + MAX_KEY_BYTES)
  ) {
    throw new SketchError('SLUICE_BAD_BYTES', `expected at most ${k} keys and their bytes, received ${size} keys`)
  }
  const keys = readKeys(Buffer.from(read.buffer, from + COUNTED_BYTES * size, rest - COUNTED_BYTES * size), size)
  const numbers = new Float64Array(read.buffer, from, size)
  const state = {
    k,
    width,
    depth,
    decay,
    drawn,
    total,
    fingerprints: new Uint32Array(read.buffer, HEADER_BYTES, buckets),
    counts: new Uint32Array(read.buffer, HEADER_BYTES + 4 * buckets, buckets),
    counted: keys.map((key, n) => ({ key, count: numbers[n] })),
  }
  if (isSound(state)) return state
  throw new SketchError('SLUICE_BAD_BYTES', 'expected the result of toBytes(), received contradictory counts')
}

function keptBytes([k, width, depth, rest]: readonly number[]): number | undefined {
  if (k < 1 || k > MAX_KEYS || width < 1 || depth < 1 || depth > MAX_ROWS || width * depth > MAX_BUCKETS)
    return undefined
  return BUCKET_BYTES * width * depth + rest
}

function isSound({ decay, drawn, total, counts, counted }: HeavyKeeperState): boolean {
  if (!isWhole(total, 0, Number.MAX_SAFE_INTEGER) || !isDecay(decay) || !isWhole(drawn, 0, 0xffff_ffff)) return false
  if (new Set(counted.map(({ key }) => key)).size !== counted.length) return false
  return counted.every(({ count }) => isWhole(count, 1, total)) && counts.every((count) => count <= total)
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most
}
