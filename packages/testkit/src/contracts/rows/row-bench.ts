import { deepEqual } from 'node:assert/strict'
import type { Change, Row, RowStore } from '@sluice/fleet/backend'
import type { MaybePromise } from '@sluice/limiter-core'
import { KEEP_ALIVE, systemClock } from '@sluice/limiter-core/backend'

/** Life of rows in ms that do not expire during a test. */
export const LONG_MS = 3_600_000

export interface RowBench {
  readonly store: RowStore
  /** Another store with the same rows, as in another process. */
  readonly other: RowStore
  /** Returns a key that no other test uses. */
  readonly key: (name?: string) => string
  /** Undefined if the test cannot move the time of the stores. */
  readonly passTime: ((ms: number) => MaybePromise<void>) | undefined
}

/** Returns the row of a key. */
export async function rowOf(store: RowStore, key: string): Promise<Row | undefined> {
  const rows = await store.read([key])
  deepEqual(rows.length, 1)
  return rows[0]
}

/** Returns the bytes of a row; undefined without a row. */
export async function bytesOf(store: RowStore, key: string): Promise<number[] | undefined> {
  const row = await rowOf(store, key)
  return row && [...row.cells]
}

/** Writes rows that do not expire during a test. */
export function written(store: RowStore, ...changes: readonly Change[]): Promise<boolean> {
  return store.write(changes, { ttlMs: LONG_MS })
}

/** Returns a change of a row. */
export function changeOf(key: string, bytes: Iterable<number>, version?: Row['version']): Change {
  return { key, cells: Uint8Array.from(bytes), version }
}

/** Creates a row and returns its version. */
export async function createdVersion(store: RowStore, key: string, bytes: Iterable<number>): Promise<Row['version']> {
  deepEqual(await written(store, changeOf(key, bytes)), true)
  return (await rowOf(store, key))?.version as Row['version']
}

/** Calls `attempt` until it returns true. */
export async function untilWritten(attempt: () => Promise<boolean>): Promise<void> {
  while (!(await attempt())) {
    // a random time, so that writers do not repeat in the same order
    await new Promise<void>((resolve) => systemClock.after(10 * Math.random(), resolve, KEEP_ALIVE))
  }
}
