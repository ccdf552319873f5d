import type { Counter } from '../contracts.ts'

/** Returns a string that is unique for a key and a counter name. The length prefix prevents collisions. */
export function targetId({ key, counter }: { readonly key: string; readonly counter: Pick<Counter, 'name'> }): string {
  return `${counter.name.length}:${counter.name}${key}`
}
