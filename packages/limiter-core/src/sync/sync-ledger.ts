import type { CountedKey, Counter, PriorUsage } from '../contracts.ts'

/** What one process took of a key since its last report. Instants are process times. */
export interface ReportedTakes extends CountedKey {
  /** Alternating instants and units; negative units are refunds. Empty if the key is only read. */
  readonly takes: readonly number[]
  /** Knowledge of this process about the key that the ledger may have lost. */
  readonly known?: PriorUsage | undefined
}

/** A report of one process for keys of one partition. */
export interface SyncBatch {
  readonly partition: number
  /** Increases by one with each batch of this process and partition. A repeated batch keeps its number. */
  readonly number: number
  readonly takes: readonly ReportedTakes[]
  /**
   * Set for a batch that follows a `lost` reply and contains the knowledge about its keys: it counts although earlier
   * batches are lost.
   */
  readonly afterLoss?: boolean | undefined
}

/** The reply of a ledger to a batch. */
export interface SyncAnswer {
  /** In the order of the batch: the current cells of each key, in process time; or an error of that key alone. */
  readonly cells: readonly (readonly number[] | Error)[]
  /**
   * Whether an earlier batch of this process is missing in the ledger, so that its data may be lost. Nothing of this
   * batch was counted: it must be sent again with the next number and `afterLoss`.
   */
  readonly lost: boolean
}

/** Adds up what all processes took. Each process has its own instance, which the ledger can identify. */
export interface SyncLedger {
  /** Number of partitions over which keys are distributed. Each partition is called separately. */
  readonly partitions: number
  /** 0 to `partitions` - 1, the same for a key in all processes. */
  partitionOf(key: string): number
  /** The server that counts a partition now: while one is silent the others are not. Without it one counts all. */
  serverOf?(partition: number): string
  /**
   * Counts a batch once, however often it arrives with its number, and returns the cells of its keys. Rejects if no
   * reply arrived by `deadlineAt` (process time); the batch may be counted then.
   */
  exchange(batch: SyncBatch, deadlineAt: number): Promise<SyncAnswer>
  /** Makes keys as good as new for all processes. */
  resetAll(keys: readonly CountedKey[]): Promise<void>
  /**
   * Number of processes that reported recently, including this one; called once per tick. Undefined if it is not
   * known.
   */
  nodes?(deadlineAt: number): Promise<number | undefined>
  /** Prepares for a counter of the backend. */
  open?(counter: Counter): void
  close?(): Promise<void> | void
}
