import type { CountedKey, Counter, PriorUsage } from '../contracts.ts'

/** What one process took of a key since it last reported it. Instants are of the process clock. */
export interface ReportedTakes extends CountedKey {
  /** Instants and units by turns; units below 0 give back. Empty where the key is asked for alone. */
  readonly takes: readonly number[]
  /** What this process knows of the key and the ledger may have lost. */
  readonly known?: PriorUsage | undefined
}

/** What one process reports at a time, of keys of one partition. */
export interface SyncBatch {
  readonly partition: number
  /** Counts up by one with each batch of this process and partition; a batch that is sent again keeps its number. */
  readonly number: number
  readonly takes: readonly ReportedTakes[]
  /** It comes after an answer of `lost`, with what is known of its keys: it counts whatever batches before it are lost. */
  readonly afterLoss?: boolean | undefined
}

/** What a ledger answers to a batch. */
export interface SyncAnswer {
  /** In the order of the batch: the cells of each key as they are now, by the process clock; an error of that key alone. */
  readonly cells: readonly (readonly number[] | Error)[]
  /**
   * True where an earlier batch of this process is not counted there any more: what is known here may be gone. Nothing
   * of this batch is counted then: it is to come under the next number, as one `afterLoss`.
   */
  readonly lost: boolean
}

/** Adds up what all processes took. One for each process, of which it knows who it is. */
export interface SyncLedger {
  /** Keys are dealt over so many partitions, which are asked each by itself. */
  readonly partitions: number
  /** 0 to `partitions` - 1, the same for a key in all processes. */
  partitionOf(key: string): number
  /** The server that counts a partition now: while one is silent the others are not. Without it one counts all. */
  serverOf?(partition: number): string
  /**
   * Counts a batch once, however often it comes under its number, and answers the cells of its keys. Rejects where no
   * answer came by `deadlineAt` of the process clock: the batch may be counted.
   */
  exchange(batch: SyncBatch, deadlineAt: number): Promise<SyncAnswer>
  /** Makes keys as good as new for all processes. */
  resetAll(keys: readonly CountedKey[]): Promise<void>
  /** Processes that report lately, this one among them; asked once a tick. Undefined where that is not known. */
  nodes?(deadlineAt: number): Promise<number | undefined>
  /** Opens what it counts by, from a counter of the backend. */
  open?(counter: Counter): void
  close?(): Promise<void> | void
}
