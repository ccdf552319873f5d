import type { ListPage } from '../list-page.ts'
import type { QuotaTable } from './quota-table.ts'
import type { SketchTable, StoredSketchKind } from './sketch-table.ts'

/** Where counters are kept for good, or as good as it gets: the lowest of their tiers. Reads and writes of one fleet. */
export interface CounterLedger {
  /** Whether what it applied outlives this process. */
  readonly durable: boolean
  /** The counters of one name. Other names are other counters. */
  open(name: string): CounterTable
  /** The sketches of one name and kind, which are others than its counters. A ledger without it keeps no sketches. */
  openSketches?(name: string, kind: StoredSketchKind): SketchTable
  /** The accounts of quotas. A ledger without it keeps no quotas. `serverTime`: for tests, epoch ms in the place of its clock. */
  openQuotas?(serverTime?: () => number): QuotaTable
  /** Ends what it opened itself. Clients that it was given stay open. */
  close(): Promise<void>
}

/** The counters of one name in a ledger. */
export interface CounterTable {
  /**
   * Applies a batch once, however often it is sent: one whose number is not above the last one of its writer changes
   * nothing, and is answered as the first time. All of it is applied, or none.
   */
  apply(batch: CounterBatch): Promise<AppliedBatch>
  /**
   * The entries of `ids`, in their order, a counter that nobody counted with version 0; and the number of the last batch of
   * `writer` that they have.
   */
  read(ids: readonly string[], writer?: string): Promise<LedgerRead>
  /** At most `limit` of those whose ids begin with `prefix`, by the bytes of their ids in UTF-8, from the one after `after`. */
  list(prefix: string, page: ListPage): Promise<readonly LedgerEntry[]>
  /** The sum of those whose ids begin with `prefix`. */
  sum(prefix: string): Promise<number>
  /** Sets a counter to 0. What was counted before, and is applied later, changes nothing. */
  clear(id: string, options: { readonly deleted: boolean }): Promise<LedgerEntry>
}

/** What one writer counted since its batch before. */
export interface CounterBatch {
  /** Of one process, and of one start of it. Sends its batches one after the other. */
  readonly writer: string
  /** From 1, one more for each batch. */
  readonly number: number
  /** At most one for each id, and none for an id of a group. */
  readonly deltas: readonly LedgerDelta[]
  /** No two with one token. */
  readonly groups: readonly TokenGroup[]
}

export interface LedgerDelta {
  readonly id: string
  readonly amount: number
  /** How long ago the first unit of it was counted, in ms: a reset since then takes it away. */
  readonly ageMs: number
}

/** Deltas that count together or not at all, and that somebody waits for. */
export interface TokenGroup {
  /** Counts once within 24 hours. Without it the group always counts. */
  readonly token: CounterToken | undefined
  /** How long ago it was counted, in ms; 0 while somebody waits for it. */
  readonly ageMs: number
  readonly amounts: ReadonlyMap<string, number>
}

/** Hashes, so that each has the same length. */
export interface CounterToken {
  readonly token: string
  /** What was to be counted under it. */
  readonly body: string
}

/** `counted` now, `duplicate` where its token had counted the same before, `reused` where that was something else. */
export type GroupOutcome = 'counted' | 'duplicate' | 'reused'

export interface AppliedBatch {
  /** Of all ids of the batch, those of groups that did not count included. */
  readonly entries: readonly LedgerEntry[]
  /** In the order of its groups. */
  readonly outcomes: readonly GroupOutcome[]
}

export interface LedgerRead {
  readonly entries: readonly LedgerEntry[]
  /** 0 for a writer of which no batch was applied. */
  readonly number: number
}

export interface LedgerEntry {
  readonly id: string
  readonly value: number
  /** One more each time that it is written. */
  readonly version: number
  /** Epoch ms of the ledger's clock. */
  readonly updatedAt: number | undefined
}

/** How long a token counts once. */
export const TOKEN_MS: number = 24 * 3_600_000
