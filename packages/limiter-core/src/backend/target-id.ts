import type { Counter } from '../contracts.ts'

/** One text for each key of a count: the length first, so that no two pairs are written alike. */
export function targetId({ key, counter }: { readonly key: string; readonly counter: Pick<Counter, 'name'> }): string {
  return `${counter.name.length}:${counter.name}${key}`
}
