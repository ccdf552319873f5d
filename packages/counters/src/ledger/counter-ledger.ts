import type { RecordStore } from '@sluice/limiter-core'
import type { ListPage } from '../list-page.ts'
import type { QuotaTable } from './quota-table.ts'
import type { SketchTable, StoredSketchKind } from './sketch-table.ts'

/** Durable storage of counters, shared by all processes. */
export interface CounterLedger {
  /** Whether applied batches survive the end of this process. */
  readonly durable: boolean
  /** Returns the counters of a name. Counters of different names are independent. */
  open(name: string): CounterTable
  /**
   * Returns the sketches of a name and kind, which are independent of the counters of that name. Ledgers without this
   * method do not store sketches.
   */
  openSketches?(name: string, kind: StoredSketchKind): SketchTable
  /**
   * Returns the quota accounts. Ledgers without this method do not store quotas. `serverTime` replaces the ledger's
   * clock in tests and returns epoch ms.
   */
  openQuotas?(serverTime?: () => number): QuotaTable
  /**
   * Returns the records of a name, e.g. for `control.store` of `createInsight`. Ledgers without this method do not store
   * records.
   */
  openRecords?(name: string): RecordStore
  /** Closes resources that the ledger opened. Clients passed to it stay open. */
  close(): Promise<void>
}

/** The counters of one name in a ledger. */
export interface CounterTable {
  /**
   * Applies a batch, all of it or none, exactly once. A batch whose number is not above the last number of its writer
   * changes nothing and returns the result of the first time.
   */
  apply(batch: CounterBatch): Promise<AppliedBatch>
  /**
   * Returns the entries of `ids` in their order, with version 0 for counters that were never counted, and the number of
   * the last batch of `writer` that is included in them.
   */
  read(ids: readonly string[], writer?: string): Promise<LedgerRead>
  /**
   * Lists at most `limit` counters whose ids begin with `prefix`, after `after`, ordered by the UTF-8 bytes of their
   * ids.
   */
  list(prefix: string, page: ListPage): Promise<readonly LedgerEntry[]>
  /** Returns the sum of the counters whose ids begin with `prefix`. */
  sum(prefix: string): Promise<number>
  /** Sets a counter to 0. Units counted before the call and applied later have no effect. */
  clear(id: string, options: { readonly deleted: boolean }): Promise<LedgerEntry>
}

/** The units that one writer counted since its previous batch. */
export interface CounterBatch {
  /** Identifies one start of one process. A writer sends its batches one after the other. */
  readonly writer: string
  /** Starts at 1 and increases by 1 with each batch. */
  readonly number: number
  /** At most one delta per id, and none for ids of groups. */
  readonly deltas: readonly LedgerDelta[]
  /** Groups with different tokens. */
  readonly groups: readonly TokenGroup[]
}

export interface LedgerDelta {
  readonly id: string
  readonly amount: number
  /** Age of the oldest unit in ms. The delta is dropped if the counter was reset after that unit. */
  readonly ageMs: number
}

/** Deltas that are counted all or none, and whose outcome a caller awaits. */
export interface TokenGroup {
  /** Makes the group count once within 24 hours. A group without a token always counts. */
  readonly token: CounterToken | undefined
  /** Age of the group in ms; 0 while a caller awaits it. */
  readonly ageMs: number
  readonly amounts: ReadonlyMap<string, number>
}

/** Hashes of a token and of its deltas, which have a fixed length. */
export interface CounterToken {
  readonly token: string
  /** Hash of the deltas that were sent with the token. */
  readonly body: string
}

/**
 * `counted` by this batch, `duplicate` if the token had counted the same deltas, `reused` if it had counted other
 * deltas, `full` if the ledger cannot store further tokens, so that the group was not counted.
 */
export type GroupOutcome = 'counted' | 'duplicate' | 'reused' | 'full'

export interface AppliedBatch {
  /** Entries of all ids in the batch, including ids of groups that did not count. */
  readonly entries: readonly LedgerEntry[]
  /** Outcomes of the groups, in their order. */
  readonly outcomes: readonly GroupOutcome[]
}

export interface LedgerRead {
  readonly entries: readonly LedgerEntry[]
  /** Number of the writer's last applied batch; 0 if there is none. */
  readonly number: number
}

export interface LedgerEntry {
  readonly id: string
  readonly value: number
  /** Increases by 1 with each write. */
  readonly version: number
  /** Time of the last counted units or reset, in epoch ms of the ledger's clock; undefined if there is none. */
  readonly updatedAt: number | undefined
}

/** Time for which a token counts only once. */
export const TOKEN_MS: number = 24 * 3_600_000
