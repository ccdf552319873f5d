import type { RecordStore } from '@sluice/limiter-core'
import type { Clock } from '@sluice/limiter-core/backend'
import type { ListPage } from '../list-page.ts'
import {
  type AppliedBatch,
  type CounterBatch,
  type CounterLedger,
  type CounterTable,
  type GroupOutcome,
  type LedgerEntry,
  type LedgerRead,
  TOKEN_MS,
  type TokenGroup,
} from './counter-ledger.ts'
import { MemoryQuotaTable } from './memory-quota-table.ts'
import { MemoryRecordStore } from './memory-record-store.ts'
import { MemorySketchTable } from './memory-sketch-table.ts'
import type { QuotaTable } from './quota-table.ts'
import type { SketchTable, StoredSketchKind } from './sketch-table.ts'
import { byBytes } from './stored-id.ts'

/** Each token takes about 150 bytes. */
const MAX_TOKENS = 1_000_000

interface Row {
  value: number
  version: number
  updatedAt: number
  /** On the scale of `clock.now()`, like the times of units. */
  resetAt: number
  isDeleted: boolean
}

interface UsedToken {
  readonly body: string
  readonly usedAt: number
  readonly writer: string
  readonly number: number
}

/** Ledger in memory, which is lost when the process ends. It is the reference implementation for other ledgers. */
export class MemoryLedger implements CounterLedger {
  readonly durable = false
  readonly #clock: Clock
  readonly #tables = new Map<string, MemoryTable>()
  readonly #sketches = new Map<string, MemorySketchTable>()
  readonly #records = new Map<string, MemoryRecordStore>()
  #quotas: MemoryQuotaTable | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  open(name: string): CounterTable {
    const table = this.#tables.get(name) ?? new MemoryTable(this.#clock)
    this.#tables.set(name, table)
    return table
  }

  openSketches(name: string, kind: StoredSketchKind): SketchTable {
    const key = `${kind}:${name}`
    const table = this.#sketches.get(key) ?? new MemorySketchTable()
    this.#sketches.set(key, table)
    return table
  }

  openQuotas(serverTime: () => number = () => this.#clock.wall()): QuotaTable {
    this.#quotas ??= new MemoryQuotaTable(serverTime)
    return this.#quotas
  }

  openRecords(name: string): RecordStore {
    const records = this.#records.get(name) ?? new MemoryRecordStore(this.#clock)
    this.#records.set(name, records)
    return records
  }

  async close(): Promise<void> {}
}

class MemoryTable implements CounterTable {
  readonly #clock: Clock
  readonly #rows = new Map<string, Row>()
  /** Used tokens, the oldest first. */
  readonly #tokens = new Map<string, UsedToken>()
  readonly #numbers = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async apply(batch: CounterBatch): Promise<AppliedBatch> {
    const { writer, number, deltas, groups } = batch
    this.#forgetTokens()
    const isNew = number > (this.#numbers.get(writer) ?? 0)
    const outcomes = groups.map((group) => (isNew ? this.#count(batch, group) : this.#outcomeBefore(batch, group)))
    if (isNew) {
      this.#numbers.set(writer, number)
      for (const { id, amount, ageMs } of deltas) this.#add(id, amount, ageMs)
    }
    const ids = new Set([...deltas.map(({ id }) => id), ...groups.flatMap(({ amounts }) => [...amounts.keys()])])
    return { entries: [...ids].map((id) => this.#entry(id)), outcomes }
  }

  async read(ids: readonly string[], writer = ''): Promise<LedgerRead> {
    return { entries: ids.map((id) => this.#entry(id)), number: this.#numbers.get(writer) ?? 0 }
  }

  async list(prefix: string, { after, limit }: ListPage): Promise<readonly LedgerEntry[]> {
    const ids = this.#idsFrom(prefix).filter((id) => after === undefined || byBytes(after, id) < 0)
    return ids
      .sort(byBytes)
      .slice(0, limit)
      .map((id) => this.#entry(id))
  }

  async sum(prefix: string): Promise<number> {
    return this.#idsFrom(prefix).reduce((sum, id) => sum + (this.#rows.get(id)?.value ?? 0), 0)
  }

  async clear(id: string, { deleted }: { readonly deleted: boolean }): Promise<LedgerEntry> {
    const now = this.#clock.now()
    const row = this.#rows.get(id)
    const isDeleted = deleted || (row?.isDeleted ?? true)
    const version = (row?.version ?? 0) + 1
    this.#rows.set(id, { value: 0, version, updatedAt: this.#clock.wall(), resetAt: now, isDeleted })
    return this.#entry(id)
  }

  #count({ writer, number }: CounterBatch, { token, ageMs, amounts }: TokenGroup): GroupOutcome {
    if (token) {
      const used = this.#tokens.get(token.token)
      if (used) return used.body === token.body ? 'duplicate' : 'reused'
      // only this group is rejected: an error would keep the whole batch waiting until tokens expire
      if (this.#tokens.size >= MAX_TOKENS) return 'full'
      this.#tokens.set(token.token, { body: token.body, usedAt: this.#clock.now(), writer, number })
    }
    for (const [id, amount] of amounts) this.#add(id, amount, ageMs)
    return 'counted'
  }

  /** Returns the outcome of a group in a batch that was applied before. */
  #outcomeBefore({ writer, number }: CounterBatch, { token }: TokenGroup): GroupOutcome {
    const used = token && this.#tokens.get(token.token)
    if (!used || (used.writer === writer && used.number === number)) return 'counted'
    return used.body === token.body ? 'duplicate' : 'reused'
  }

  #add(id: string, amount: number, ageMs: number): void {
    const row = this.#rows.get(id) ?? {
      value: 0,
      version: 0,
      updatedAt: 0,
      resetAt: Number.NEGATIVE_INFINITY,
      isDeleted: true,
    }
    if (this.#clock.now() - ageMs < row.resetAt) return
    row.value += amount
    row.version++
    row.updatedAt = this.#clock.wall() - ageMs
    row.isDeleted = false
    this.#rows.set(id, row)
  }

  #entry(id: string): LedgerEntry {
    const { value = 0, version = 0, updatedAt } = this.#rows.get(id) ?? {}
    return { id, value, version, updatedAt }
  }

  #idsFrom(prefix: string): string[] {
    const ids: string[] = []
    for (const [id, { isDeleted }] of this.#rows) if (!isDeleted && id.startsWith(prefix)) ids.push(id)
    return ids
  }

  #forgetTokens(): void {
    const now = this.#clock.now()
    for (const [token, { usedAt }] of this.#tokens) {
      if (now - usedAt < TOKEN_MS) return
      this.#tokens.delete(token)
    }
  }
}
