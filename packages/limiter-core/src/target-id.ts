import type { Charge } from './contracts.ts'

/** One text for each pair of a key and a count: the length first, so that no two pairs are written alike. */
export function targetId({ key, count }: Pick<Charge, 'key' | 'count'>): string {
  return `${count.length}:${count}${key}`
}
