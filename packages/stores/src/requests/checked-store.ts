import type { Change, Row, RowStore } from '@sluice/fleet/backend'
import { invalidAnswer } from './store-failure.ts'

/** A store whose answers are checked. Its methods never throw synchronously. */
export class CheckedStore {
  readonly #store: RowStore

  constructor(store: RowStore) {
    this.#store = store
  }

  get hasClock(): boolean {
    return this.#store.now !== undefined
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    const rows: unknown = await this.#store.read(keys)
    if (Array.isArray(rows) && rows.length === keys.length && rows.every(isRow)) return rows
    throw invalidAnswer('read', 'a row or undefined for each key', false)
  }

  async write(changes: readonly Change[], ttlMs: number): Promise<boolean> {
    const isWritten: unknown = await this.#store.write(changes, { ttlMs })
    if (typeof isWritten === 'boolean') return isWritten
    throw invalidAnswer('write', 'true or false', true)
  }

  async now(): Promise<number> {
    const now: unknown = await this.#store.now?.()
    if (typeof now === 'number' && Number.isFinite(now)) return now
    throw invalidAnswer('now', 'a time in epoch ms', false)
  }
}

function isRow(row: unknown): boolean {
  if (row === undefined) return true
  const { cells, version } = (row ?? {}) as Partial<Row>
  return cells instanceof Uint8Array && ['string', 'number', 'bigint'].includes(typeof version)
}
