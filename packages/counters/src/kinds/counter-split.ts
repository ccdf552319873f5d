import type { CounterReading } from '@sluice/limiter-core'
import type { ListPage } from '../list-page.ts'

/** How counters are made of parts. */
export interface CounterSplit {
  /** The counters of which `id` is the sum, now: as many for each id. */
  partsOf(id: string): readonly string[]
  /** Index of the part that counts `delta`; `values` are those of the parts. */
  partFor(values: readonly number[], delta: number): number
  /** Whether calls of one moment count in several parts, so that those beside its own change while a call is under way. */
  readonly writesMany: boolean
  /** Indexes of the part where a token counts, and of others where it may have counted before, in the order to ask. */
  partsForToken(hash: string): Iterable<number>
  /** Of the whole, one number that grows when a part is written; 0 where none ever was. */
  versionOf(parts: readonly CounterReading[]): number
  /** At most `limit` of those whose ids begin with `prefix`, by the bytes of their ids in UTF-8, from the one after `after`. */
  list(prefix: string, page: ListPage): Promise<readonly CounterReading[]>
  sum(prefix: string, kind: 'sum'): Promise<number>
}
