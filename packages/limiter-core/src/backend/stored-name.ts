import { drainPerMs, policiesOf } from '../algorithms/policy-forms.ts'
import type { CompiledPolicy, Counter } from '../contracts.ts'

const storedNames = new WeakMap<Counter, string>()

/** Returns the name of a counter with the part of its cell layout that the name does not include. */
export function storedNameOf(counter: Counter): string {
  let stored = storedNames.get(counter)
  if (stored === undefined) {
    stored = storedName(counter.name, counter.compiled)
    storedNames.set(counter, stored)
  }
  return stored
}

/** Returns the name of a count with the part of its cell layout that the name does not include. */
export function storedName(name: string, compiled: CompiledPolicy): string {
  return name + layoutOf(compiled)
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
  // units of draining algorithms do not depend on the window
  const windows = policiesOf(compiled).flatMap((policy) => (drainPerMs(policy) > 0 ? [] : policy.windowMs))
  const ends = windows.length > 0 ? `/${windows.join('+')}` : ''
  return slices > 1 ? `${ends}/${slices}` : ends
}

/** Returns a string that is unique for a key and a counter name. The length prefix prevents collisions. */
export function targetId({ key, counter }: { readonly key: string; readonly counter: Pick<Counter, 'name'> }): string {
  return `${counter.name.length}:${counter.name}${key}`
}
