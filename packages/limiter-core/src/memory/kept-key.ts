import { availableAfterMs } from '../algorithms/available-after-ms.ts'
import type { CompiledPolicy } from '../contracts.ts'
import type { SlotRef } from './shard.ts'

/** The state of a key at a decision: the time, and its cells if they are few, otherwise values derived from them. */
export type KeptKey = readonly number[]

const MOST_CELLS = 4
const cellsOfOne = new Float64Array(MOST_CELLS)

/**
 * Stores the state of a key for properties of a decision that may be read later. Most callers never read them, and
 * computing them costs half as much as the decision. One array of doubles, because each double property of an object
 * is a separate heap object.
 */
export function keptKey(
  compiled: CompiledPolicy,
  { cells, at }: SlotRef,
  now: number,
  remaining: number,
  resetAfterMs: number,
): KeptKey {
  const count = compiled.cells
  if (count === 2) return [now, cells[at], cells[at + 1]]
  if (count === 4) return [now, cells[at], cells[at + 1], cells[at + 2], cells[at + 3]]
  if (count === 1) return [now, cells[at]]
  return [now, resetAfterMs, availableAfterMs(compiled, cells, at, now, remaining)]
}

export function resetThen(compiled: CompiledPolicy, kept: KeptKey): number {
  return kept.length > compiled.cells ? compiled.resetAfterMs(cellsOf(kept), 0, kept[0]) : kept[1]
}

export function availableThen(compiled: CompiledPolicy, kept: KeptKey, remaining: number): number {
  return kept.length > compiled.cells ? availableAfterMs(compiled, cellsOf(kept), 0, kept[0], remaining) : kept[2]
}

/** Valid until the next key is read. */
function cellsOf(kept: KeptKey): Float64Array {
  for (let cell = 1; cell < kept.length; cell++) cellsOfOne[cell - 1] = kept[cell]
  return cellsOfOne
}
