import type { Clock, MaybePromise, Observers } from '@sluice/limiter-core/backend'
import type { QuotaTable, StoredNotice } from '../ledger/quota-table.ts'
import { listedKey } from './stored-key.ts'

/** How long a process has to deliver a notice before another one does. */
const CLAIM_MS = 60_000
const AT_ONCE = 100

/** That a key has used 80 or 100 per cent of what a period includes. */
export interface QuotaUsed {
  /** The same for each delivery of one notice: whoever keeps the ids acts once. */
  readonly id: string
  readonly policy: string
  readonly key: string
  /** Local date on which the period began. */
  readonly period: string
  /** Per cent: 80 or 100. */
  readonly threshold: number
  /** Units used when it was reached. */
  readonly used: number
  /** Units that the period includes, those carried over among them. */
  readonly included: number
}

export interface QuotaNoticesOptions {
  readonly table: QuotaTable
  readonly clock: Clock
  readonly observers: Observers
  readonly policyOf: (name: string) => string
  readonly onUsed: ((notice: QuotaUsed) => MaybePromise<void>) | undefined
}

/** Delivers notices that were written, each until somebody has taken it. */
export class QuotaNotices {
  readonly #options: QuotaNoticesOptions
  readonly #underWay = new Set<Promise<void>>()
  #isClosed = false

  constructor(options: QuotaNoticesOptions) {
    this.#options = options
  }

  /**
   * Never rejects: what fails is delivered again, by whichever process comes first. Without `onUsed` observers hear of it,
   * and it is left to a process that has one.
   */
  deliver(notices: readonly StoredNotice[]): Promise<void> {
    const delivered = this.#deliver(notices)
    this.#underWay.add(delivered)
    return delivered.finally(() => this.#underWay.delete(delivered))
  }

  /** Resolves when all are delivered that anybody has begun to. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** What is not delivered yet is left to others. */
  close(): void {
    this.#isClosed = true
  }

  async #deliver(notices: readonly StoredNotice[]): Promise<void> {
    const delivered = await Promise.all(notices.map((notice) => this.#deliverOne(notice)))
    const ids = delivered.flatMap((id) => id ?? [])
    if (ids.length > 0 && !this.#isClosed) await this.#options.table.delivered(ids).catch(() => {})
  }

  /** Those that a process began to deliver and did not. */
  async deliverLate(names: readonly string[]): Promise<void> {
    const { onUsed, table } = this.#options
    if (onUsed && !this.#isClosed) await this.deliver(await table.undelivered(names, CLAIM_MS, AT_ONCE))
  }

  async #deliverOne({ name, id, key, period, threshold, used, included }: StoredNotice): Promise<string | undefined> {
    const { observers, onUsed, policyOf } = this.#options
    const notice: QuotaUsed = { id, policy: policyOf(name), key: listedKey(key), period, threshold, used, included }
    observers.event('quota', { ...notice })
    try {
      await onUsed?.(notice)
      return onUsed && id
    } catch (error) {
      observers.event('hookFailed', { hook: 'onUsed', error })
      return undefined
    }
  }
}
