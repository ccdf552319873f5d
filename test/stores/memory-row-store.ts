import type { Change, Row, RowStore, RowWriteOptions } from '@sluice/stores'

/** Rows in memory, which several stores share. Their time moves only when a test moves it. */
export class MemoryRows {
  readonly rows = new Map<string, Row & { readonly expiresAt: number }>()
  nowMs = 0
  #versions = 0

  write(changes: readonly Change[], { ttlMs }: RowWriteOptions): boolean {
    if (changes.some(({ key, version }) => this.find(key)?.version !== version)) return false
    for (const { key, cells } of changes) {
      this.rows.set(key, { cells: cells.slice(), version: ++this.#versions, expiresAt: this.nowMs + ttlMs })
    }
    return true
  }

  find(key: string): Row | undefined {
    const row = this.rows.get(key)
    return row && row.expiresAt > this.nowMs ? { cells: row.cells.slice(), version: row.version } : undefined
  }
}

/** A store of one process, which answers in another turn of the event loop and counts its calls. */
export class MemoryRowStore implements RowStore {
  readonly maxRows: number | undefined
  reads = 0
  writes = 0
  /** Runs before each call, and may throw or wait. */
  before: (method: 'read' | 'write') => unknown = () => {}
  readonly data: MemoryRows

  constructor(data: MemoryRows = new MemoryRows(), maxRows?: number) {
    this.data = data
    this.maxRows = maxRows
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    this.reads++
    await this.before('read')
    const found = keys.map((key) => this.data.find(key))
    // after the read, so that other processes write between the read and its result
    await new Promise((resolve) => setImmediate(resolve))
    return found
  }

  async write(changes: readonly Change[], options: RowWriteOptions): Promise<boolean> {
    this.writes++
    await this.before('write')
    return this.data.write(changes, options)
  }
}
