import type { Counter } from '../contracts.ts'

/**
 * Returns a unique string for a key and a counter. The length comes first, so that no two pairs produce the same
 * string.
 */
export function targetId({ key, counter }: { readonly key: string; readonly counter: Pick<Counter, 'name'> }): string {
  return `${counter.name.length}:${counter.name}${key}`
}
