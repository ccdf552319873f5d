import type { Counter } from '../contracts.ts'
import { storedNameOf } from './stored-name.ts'

/** Whether two counters of one backend read the same cells. */
export function sharesCells(one: Counter, other: Counter): boolean {
  const { cells, room } = one.compiled
  return storedNameOf(one) === storedNameOf(other) && cells === other.compiled.cells && room === other.compiled.room
}
