import { described, SketchError } from './sketch-error.ts'

/** Bits of a counter. */
export type CellBits = 8 | 16 | 32

/** Unsigned counters side by side. */
export type Cells = Uint8Array | Uint16Array | Uint32Array

/** The largest count that a cell holds. It stays there: a cell that is full counts no more, and never from 0 again. */
export const FULL: Readonly<Record<CellBits, number>> = { 8: 0xff, 16: 0xffff, 32: 0xffff_ffff }

/** `count` cells in `buffer` from byte `from` on. */
export function cellsIn(buffer: ArrayBufferLike, from: number, count: number, bits: CellBits): Cells {
  if (bits === 8) return new Uint8Array(buffer, from, count)
  return bits === 16 ? new Uint16Array(buffer, from, count) : new Uint32Array(buffer, from, count)
}

/** Throws `SLUICE_BAD_OPTION` unless `bits` are 8, 16 or 32. */
export function cellBitsOf(option: string, bits: unknown): CellBits {
  if (bits === 8 || bits === 16 || bits === 32) return bits
  throw new SketchError('SLUICE_BAD_OPTION', `${option}: expected 8, 16 or 32, received ${described(bits)}`)
}
