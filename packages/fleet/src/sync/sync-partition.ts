import type { CountedKey } from '@sluice/limiter-core/backend'
import { relevantMs } from './charge-late.ts'
import type { PendingUsage } from './pending-usage.ts'
import type { SyncBatch } from './sync-ledger.ts'

/**
 * Sends the reports for one partition, one batch at a time. A batch is resent with the same number until it is
 * answered, so that it counts once even if calls or replies get lost.
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

  /** Whether a new batch can begin, because no batch waits for a reply. */
  get isFree(): boolean {
    return this.#batch === undefined
  }

  /** The batch that has to be sent again; undefined if there is none, or while its call is pending. */
  get unanswered(): SyncBatch | undefined {
    return this.#isUnderWay ? undefined : this.#batch
  }

  /**
   * Starts a batch. Refunds are put last, because the take that they refund may be in another report of the batch, if
   * the process evicted the key in between.
   */
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
    if (this.#batch) this.#batch = { ...this.#batch, isRepeated: true }
  }

  /** Removes the units of a key from the pending batch, which keeps its number. */
  drop({ key, counter }: CountedKey): void {
    for (const usage of (this.#batch?.takes ?? []) as readonly PendingUsage[]) {
      if (usage.key === key && usage.counter.name === counter.name) usage.clear()
    }
  }

  /** Removes takes that have waited so long during an outage that they no longer matter at `now`. */
  forget(now: number): void {
    for (const usage of (this.#batch?.takes ?? []) as readonly PendingUsage[]) {
      usage.forget(now - relevantMs(usage.counter.compiled))
    }
  }

  /** Number of units in the unanswered batch. Refunds count as positive. */
  get units(): number {
    const takes = (this.#batch?.takes ?? []) as readonly PendingUsage[]
    return takes.reduce((sum, { units }) => sum + Math.abs(units), 0)
  }
}
