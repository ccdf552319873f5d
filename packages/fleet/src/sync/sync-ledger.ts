import type { CountedKey, PriorUsage } from '@sluice/limiter-core/backend'

/** The units that one process took from a key since its last report. Times are readings of the process clock. */
export interface ReportedTakes extends CountedKey {
  /** Alternating times and units; negative units are refunds. Empty if the key is only read. */
  readonly takes: readonly number[]
  /** Usage of the key that this process knows and the ledger may have lost. */
  readonly known?: PriorUsage | undefined
}

/** A report of one process for keys of one partition. */
export interface SyncBatch {
  readonly partition: number
  /** Increases by one with each batch of this process and partition. A repeated batch keeps its number. */
  readonly number: number
  readonly takes: readonly ReportedTakes[]
  /**
   * Set for a batch that follows a `lost` reply and contains the known usage of its keys. The ledger counts it although
   * earlier batches are missing.
   */
  readonly afterLoss?: boolean | undefined
  /** Set if the batch is sent again because there was no reply. */
  readonly isRepeated?: boolean | undefined
}

/** The reply of a ledger to a batch. */
export interface SyncAnswer {
  /** The current cells of each key in the order of the batch, in process time; an error if only that key failed. */
  readonly cells: readonly (readonly number[] | Error)[]
  /**
   * Whether an earlier batch of this process is missing in the ledger, which may have lost data. In that case nothing
   * of this batch was counted: send it again with the next number and `afterLoss`.
   */
  readonly lost: boolean
}

/** Counts of other processes in the memory of this process. */
export interface ReceivedCounts {
  /** Returns the current cells of a key, in process time, and the place of the key in `changedAt`: an integer from 1. */
  of(counted: CountedKey): { readonly cells: readonly number[]; readonly place: number }
  /**
   * Returns when counts of another process arrived last for any key with this place, in process time; Infinity for
   * place 0, which stands for unknown.
   */
  changedAt(place: number): number
}

/** Adds up the units that all processes took. Each process uses a separate instance, which identifies it. */
export interface SyncLedger {
  /** Number of partitions over which keys are distributed. Each partition is called separately. */
  readonly partitions: number
  /** Returns the partition of a key, 0 to `partitions` - 1. All processes must get the same result. */
  partitionOf(key: string): number
  /**
   * Returns the name of the server that currently counts a partition. Servers fail independently of each other. Without
   * this method, one server counts all partitions.
   */
  serverOf?(partition: number): string
  /**
   * Counts a batch once, even if it arrives several times with the same number, and returns the cells of its keys.
   * A batch that arrives after `deadlineAt` (process time) is not counted. Rejects if no reply arrives soon after
   * `deadlineAt`; the batch may have been counted nevertheless.
   */
  exchange(batch: SyncBatch, deadlineAt: number): Promise<SyncAnswer>
  /**
   * Counts of other processes that this process receives without asking. Undefined if the counts are on a server, and
   * this process receives them only in replies.
   */
  readonly arrived?: ReceivedCounts | undefined
  /** Resets the counts of keys for all processes. */
  resetAll(keys: readonly CountedKey[]): Promise<void>
  /**
   * Resolves with the number of processes that reported recently, including this one; undefined if it is unknown.
   * Called once per tick.
   */
  nodes?(deadlineAt: number): Promise<number | undefined>
  close?(): Promise<void> | void
}
