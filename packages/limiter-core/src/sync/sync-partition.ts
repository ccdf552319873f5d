import type { CountedKey } from '../contracts.ts'
import { mattersMs } from './charge-late.ts'
import type { PendingUsage } from './pending-usage.ts'
import type { SyncBatch } from './sync-ledger.ts'

/**
 * The reports to one partition: one batch at a time, resent with its number until it is answered, so that it counts
 * once whatever gets lost.
 */
export class SyncPartition {
  readonly index: number
  /** Resolves when the pending call is answered or has failed. */
  attempt: Promise<void> | undefined
  #number = 0
  #batch: SyncBatch | undefined
  #isUnderWay = false

  constructor(index: number) {
    this.index = index
  }

  /** Takes a new batch: nothing waits for an answer. */
  get isFree(): boolean {
    return this.#batch === undefined
  }

  /** Sent before, and to be sent again. */
  get unanswered(): SyncBatch | undefined {
    return this.#isUnderWay ? undefined : this.#batch
  }

  /** Puts refunds last: their take may be part of another report, if the process forgot the key in between. */
  begin(usages: readonly PendingUsage[]): SyncBatch {
    const refunds = usages.filter(({ units }) => units < 0)
    const takes = refunds.length > 0 ? [...usages.filter(({ units }) => units >= 0), ...refunds] : usages
    this.#batch = { partition: this.index, number: ++this.#number, takes }
    this.#isUnderWay = true
    return this.#batch
  }

  sent(): void {
    this.#isUnderWay = true
  }

  answered(): void {
    this.#isUnderWay = false
    this.#batch = undefined
  }

  /**
   * Prepares the batch to be sent again with the next number, because earlier batches were lost and nothing of it was
   * counted.
   */
  refused(): void {
    this.#isUnderWay = false
    if (this.#batch) this.#batch = { ...this.#batch, number: ++this.#number, afterLoss: true }
  }

  failed(): void {
    this.#isUnderWay = false
  }

  /** Removes a key from the pending batch, which keeps its number, so that its units do not count. */
  drop({ key, counter }: CountedKey): void {
    for (const usage of (this.#batch?.takes ?? []) as readonly PendingUsage[]) {
      if (usage.key === key && usage.counter.name === counter.name) usage.clear()
    }
  }

  /** Removes takes that no longer matter at `now`, after waiting for the end of an outage. */
  forget(now: number): void {
    for (const usage of (this.#batch?.takes ?? []) as readonly PendingUsage[]) {
      usage.forget(now - mattersMs(usage.counter.compiled))
    }
  }

  /** Number of sent and unanswered units, including refunds. */
  get units(): number {
    const takes = (this.#batch?.takes ?? []) as readonly PendingUsage[]
    return takes.reduce((sum, { units }) => sum + Math.abs(units), 0)
  }
}
