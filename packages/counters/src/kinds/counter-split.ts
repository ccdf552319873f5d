import type { CounterReading } from '@sluice/fleet/backend'
import type { ListPage } from '../list-page.ts'

/** Strategy of a counter that is the sum of several counters, its parts. */
export interface CounterSplit {
  /** Returns the ids of the counters that currently add up to `id`; the same number for every id. */
  partsOf(id: string): readonly string[]
  /** Returns the index of the part that counts `delta`, given the current values of all parts. */
  partFor(values: readonly number[], delta: number): number
  /** Whether concurrent calls count in different parts, so that other parts can change while a call is under way. */
  readonly writesMany: boolean
  /**
   * Returns the index of the part in which a token counts, then of other parts in which it may have counted earlier.
   */
  partsForToken(hash: string): Iterable<number>
  /** Returns a version of the sum that grows whenever a part is written; 0 if no part was ever written. */
  versionOf(parts: readonly CounterReading[]): number
  /**
   * Lists at most `limit` counters whose ids begin with `prefix`, after `after`, ordered by the UTF-8 bytes of their
   * ids.
   */
  list(prefix: string, page: ListPage): Promise<readonly CounterReading[]>
  sum(prefix: string, kind: 'sum'): Promise<number>
}
