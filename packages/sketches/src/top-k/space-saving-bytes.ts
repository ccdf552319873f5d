import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { SketchError } from '../sketch-error.ts'
import { MAX_KEY_BYTES, readKeys, writeKeys } from './key-bytes.ts'
import { MAX_KEYS } from './ranked-keys.ts'

export interface Counted {
  readonly key: string
  readonly count: number
  readonly error: number
}

/** The complete state of a Space-Saving summary. */
export interface SpaceSavingState {
  readonly capacity: number
  readonly total: number
  readonly floor: number
  /** In heap order. */
  readonly counted: readonly Counted[]
}

// a count and an error
const COUNTED_BYTES = 16

/**
 * Shape: capacity, keys, bytes of the list of keys. Floats: total, floor. Then float64 counts, float64 errors and the
 * list of keys, all in the order of the heap.
 */
export function writeSpaceSaving({ capacity, total, floor, counted }: SpaceSavingState): Uint8Array {
  const size = counted.length
  const list = writeKeys(counted.map(({ key }) => key))
  const shape = [capacity, size, list.length]
  const made = SketchBuffer.create('spaceSaving', COUNTED_BYTES * size + list.length, { shape })
  made.setFloat(0, total)
  made.setFloat(1, floor)
  const numbers = new Float64Array(made.buffer, HEADER_BYTES, 2 * size)
  counted.forEach(({ count, error }, n) => {
    numbers[n] = count
    numbers[size + n] = error
  })
  new Uint8Array(made.buffer, HEADER_BYTES + COUNTED_BYTES * size).set(list)
  return new Uint8Array(made.buffer as ArrayBuffer)
}

/** Throws `SLUICE_BAD_BYTES` where no stream and no merges could have led there. */
export function readSpaceSaving(bytes: Uint8Array): SpaceSavingState {
  const read = SketchBuffer.read('spaceSaving', bytes, keptBytes)
  const [capacity, size, listBytes] = [read.shape(0), read.shape(1), read.shape(2)]
  const numbers = new Float64Array(read.buffer, HEADER_BYTES, 2 * size)
  const keys = readKeys(Buffer.from(read.buffer, HEADER_BYTES + COUNTED_BYTES * size, listBytes), size)
  const counted = keys.map((key, n) => ({ key, count: numbers[n], error: numbers[size + n] }))
  const state = { capacity, total: read.float(0), floor: read.float(1), counted }
  if (isSound(state)) return state
  throw new SketchError('SLUICE_BAD_BYTES', 'expected the result of toBytes(), received contradictory counts')
}

function keptBytes([capacity, size, listBytes, none]: readonly number[]): number | undefined {
  if (capacity < 1 || capacity > MAX_KEYS || size > capacity || none !== 0) return undefined
  if (listBytes < 4 * size || listBytes > MAX_KEY_BYTES * size) return undefined
  return COUNTED_BYTES * size + listBytes
}

function isSound({ capacity, total, floor, counted }: SpaceSavingState): boolean {
  const full = counted.length === capacity
  if (!Number.isSafeInteger(total) || !isWhole(floor, 0, full ? total : 0)) return false
  if (new Set(counted.map(({ key }) => key)).size !== counted.length) return false
  let sum = 0
  for (const { count, error } of counted) {
    if (!isWhole(count, Math.max(floor, 1), total) || !isWhole(error, 0, Math.min(floor, count - 1))) return false
    sum += count
  }
  // merged summaries may have lost counts of evicted keys; without such keys no count is lost
  return floor === 0 ? sum === total : sum <= total
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most
}
