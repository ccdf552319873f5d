import type { CountedKey } from '../contracts.ts'
import { mattersMs } from './charge-late.ts'
import type { PendingUsage } from './pending-usage.ts'
import type { SyncBatch } from './sync-ledger.ts'

/**
 * What goes to one partition: one batch at a time, sent again under its number until it is answered, so that it counts
 * once whatever is lost on the way.
 */
export class SyncPartition {
  readonly index: number
  /** Ends when what is under way is answered or has failed. */
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

  /** What gives back goes last: the take may be of another usage, where the process forgot the key in between. */
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

  /** Nothing of the batch was counted, since batches before it were lost: it goes again, under the next number. */
  refused(): void {
    this.#isUnderWay = false
    if (this.#batch) this.#batch = { ...this.#batch, number: ++this.#number, afterLoss: true }
  }

  failed(): void {
    this.#isUnderWay = false
  }

  /** What was sent of a key and is not counted yet is not to count any more: it leaves the batch, whose number stays. */
  drop({ key, counter }: CountedKey): void {
    for (const usage of (this.#batch?.takes ?? []) as readonly PendingUsage[]) {
      if (usage.key === key && usage.counter.name === counter.name) usage.clear()
    }
  }

  /** What was taken so long before `now` that it matters no more leaves the batch: it waited for an outage to end. */
  forget(now: number): void {
    for (const usage of (this.#batch?.takes ?? []) as readonly PendingUsage[]) {
      usage.forget(now - mattersMs(usage.counter.compiled))
    }
  }

  /** Units that are sent and unanswered, those of refunds among them. */
  get units(): number {
    const takes = (this.#batch?.takes ?? []) as readonly PendingUsage[]
    return takes.reduce((sum, { units }) => sum + Math.abs(units), 0)
  }
}
