import { described, SketchError } from '../sketch-error.ts'
import { areRuns, REGISTERS, readRuns, SparseRuns } from './sparse-runs.ts'

/**
 * 'HYLL', the encoding, three zero bytes, and the cached count: 8 bytes, little-endian, whose highest bit marks it as
 * stale.
 */
export const FORM_HEADER_BYTES = 16
/** The header, and 6 bits for each register from the low bits of each byte up. */
const DENSE_BYTES = FORM_HEADER_BYTES + (REGISTERS * 6) / 8
/** The largest rank that a key has: 14 of 64 bits choose its register, and all others may be 0. */
export const MAX_RANK = 51

const MAGIC = [0x48, 0x59, 0x4c, 0x4c]
const FORM_AT = 4
const CACHE_AT = 8
const DENSE = 0
const SPARSE = 1
const STALE = 0x8000_0000

/** The decoded bytes of a Redis HyperLogLog. */
export interface RedisForm {
  /** The rank of each register, a byte each. */
  readonly registers: Uint8Array
  /** Undefined in the dense form. */
  readonly runs: SparseRuns | undefined
  /** The cached count, as two uint32, with its stale bit. */
  readonly cacheLow: number
  readonly cacheHigh: number
}

/** Encodes the bytes as Redis stores them. */
export function writeForm({ registers, runs, cacheLow, cacheHigh }: RedisForm): Uint8Array {
  const bytes = new Uint8Array(runs ? FORM_HEADER_BYTES + runs.length : DENSE_BYTES)
  bytes.set(MAGIC)
  bytes[FORM_AT] = runs ? SPARSE : DENSE
  const view = new DataView(bytes.buffer)
  view.setUint32(CACHE_AT, cacheLow, true)
  view.setUint32(CACHE_AT + 4, cacheHigh, true)
  if (runs) runs.writeTo(bytes, FORM_HEADER_BYTES)
  else pack(registers, bytes)
  return bytes
}

/** Throws `SLUICE_BAD_BYTES` for bytes that Redis never creates, before allocating memory for them. */
export function readForm(bytes: unknown): RedisForm {
  if (!ArrayBuffer.isView(bytes) || !(bytes instanceof Uint8Array))
    throw bad(`expected a Uint8Array, received ${described(bytes)}`)
  checkHead(bytes)
  const dense = bytes[FORM_AT] === DENSE
  if (dense) checkDense(bytes)
  else if (!areRuns(bytes, FORM_HEADER_BYTES)) throw bad(`expected runs of ${REGISTERS} registers, received others`)
  const registers = new Uint8Array(REGISTERS)
  if (dense) unpack(bytes, registers)
  else readRuns(bytes, FORM_HEADER_BYTES, registers)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return {
    registers,
    runs: dense ? undefined : new SparseRuns(bytes.subarray(FORM_HEADER_BYTES)),
    cacheLow: view.getUint32(CACHE_AT, true),
    cacheHigh: view.getUint32(CACHE_AT + 4, true),
  }
}

/** Returns the high half of a cached count, marked as stale. */
export function stale(cacheHigh: number): number {
  return (cacheHigh | STALE) >>> 0
}

function checkHead(bytes: Uint8Array): void {
  const form = bytes[FORM_AT]
  if (bytes.length < FORM_HEADER_BYTES)
    throw bad(`expected at least ${FORM_HEADER_BYTES} bytes, received ${bytes.length}`)
  if (MAGIC.some((byte, at) => bytes[at] !== byte)) throw bad("expected bytes that start with 'HYLL', received others")
  if (form !== DENSE && form !== SPARSE) throw bad(`expected encoding 0 (dense) or 1 (sparse), received ${form}`)
  if (bytes[5] + bytes[6] + bytes[7] > 0) throw bad('expected zeros in the unused header bytes, received others')
}

function checkDense(bytes: Uint8Array): void {
  if (bytes.length !== DENSE_BYTES) throw bad(`expected ${DENSE_BYTES} bytes, received ${bytes.length}`)
  for (let register = 0; register < REGISTERS; register++) {
    const rank = rankAt(bytes, register)
    if (rank > MAX_RANK) throw bad(`expected ranks of at most ${MAX_RANK}, received ${rank}`)
  }
}

/** Returns the rank in a dense encoding. */
function rankAt(bytes: Uint8Array, register: number): number {
  const bit = 6 * register
  const at = FORM_HEADER_BYTES + (bit >> 3)
  return ((bytes[at] | (bytes[at + 1] << 8)) >> (bit & 7)) & 63
}

/** Four registers in three bytes. */
function pack(registers: Uint8Array, bytes: Uint8Array): void {
  for (let from = 0, to = FORM_HEADER_BYTES; from < REGISTERS; from += 4, to += 3) {
    const four =
      registers[from] | (registers[from + 1] << 6) | (registers[from + 2] << 12) | (registers[from + 3] << 18)
    bytes[to] = four
    bytes[to + 1] = four >> 8
    bytes[to + 2] = four >> 16
  }
}

function unpack(bytes: Uint8Array, registers: Uint8Array): void {
  for (let register = 0; register < REGISTERS; register++) registers[register] = rankAt(bytes, register)
}

function bad(why: string): SketchError {
  return new SketchError('SLUICE_BAD_BYTES', why)
}
