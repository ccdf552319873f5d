import { drainPerMs } from '../algorithms/policy-forms.ts'
import type { CompiledPolicy, Counter } from '../contracts.ts'

const storedNames = new WeakMap<Counter, string>()

/** Returns the name of a counter with the part of its cell layout that the name does not include. */
export function storedNameOf(counter: Counter): string {
  let stored = storedNames.get(counter)
  if (stored === undefined) {
    stored = counter.name + layoutOf(counter.compiled)
    storedNames.set(counter, stored)
  }
  return stored
}

/** Whether two counters of one backend read the same cells. */
export function sharesCells(one: Counter, other: Counter): boolean {
  const { cells, room } = one.compiled
  return storedNameOf(one) === storedNameOf(other) && cells === other.compiled.cells && room === other.compiled.room
}

/** Returns the windows in which units expire, and the number of slices per window. */
function layoutOf(compiled: CompiledPolicy): string {
  // the name of a counter with several variants already includes the slices of each variant
  const { slices = 1 } = compiled.variants ? {} : compiled.policy
  const windows = compiled.variants?.flatMap((variant) => windowOf(variant.compiled)) ?? windowOf(compiled)
  const ends = windows.length > 0 ? `/${windows.join('+')}` : ''
  return slices > 1 ? `${ends}/${slices}` : ends
}

/** Returns no window for algorithms that drain units at a constant rate: their cells do not depend on the window. */
function windowOf({ policy }: CompiledPolicy): readonly number[] {
  return drainPerMs(policy) > 0 ? [] : [policy.windowMs]
}
