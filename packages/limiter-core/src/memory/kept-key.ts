import { availableAfterMs } from '../algorithms/available-after-ms.ts'
import type { CompiledPolicy } from '../contracts.ts'
import type { SlotRef } from './shard.ts'

/** The state of a key at a decision: the time, and its cells if they are few, otherwise values derived from them. */
export type KeptKey = readonly number[]

const MAX_CELLS = 4
const scratch = new Float64Array(MAX_CELLS)

/**
 * Returns the state of a key from which properties of a decision are computed when they are read. Most callers never
 * read them, and computing them costs half as much as deciding. The state is one array of doubles, because each double
 * property of an object would be a separate heap object.
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

export function resetAfterOf(compiled: CompiledPolicy, kept: KeptKey): number {
  return kept.length > compiled.cells ? compiled.resetAfterMs(cellsOf(kept), 0, kept[0]) : kept[1]
}

export function availableAfterOf(compiled: CompiledPolicy, kept: KeptKey, remaining: number): number {
  return kept.length > compiled.cells ? availableAfterMs(compiled, cellsOf(kept), 0, kept[0], remaining) : kept[2]
}

/** Returns the cells of a kept key in a shared array, valid until the next call. */
function cellsOf(kept: KeptKey): Float64Array {
  for (let cell = 1; cell < kept.length; cell++) scratch[cell - 1] = kept[cell]
  return scratch
}
