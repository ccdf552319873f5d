import type { QuotaTable, StoredNotice } from '@sluice/counters/backend'
import type { Clock, MaybePromise, Observers } from '@sluice/limiter-core/backend'
import { listedKey } from './stored-key.ts'

/** Time within which a process must deliver a notice before another process may claim it. */
const CLAIM_MS = 60_000
const AT_ONCE = 100

/** Notice that a key has used a share of the units included in a period. */
export interface QuotaUsed {
  /** Same id for each delivery of a notice, so that receivers can ignore repeated deliveries. */
  readonly id: string
  readonly policy: string
  readonly key: string
  /** Local date on which the period began, e.g. `2026-11-01`; `2026-11-01.2` if the key had this date in another zone. */
  readonly period: string
  /** Percentage of the included units, e.g. 80: a share of the option `notices`. */
  readonly threshold: number
  /** Units used when the threshold was reached. */
  readonly used: number
  /** Units included in the period, with units carried over. */
  readonly included: number
}

export interface QuotaNoticesOptions {
  readonly table: QuotaTable
  readonly clock: Clock
  readonly observers: Observers
  readonly policyOf: (name: string) => string
  readonly onUsed: ((notice: QuotaUsed) => MaybePromise<void>) | undefined
}

/** Delivers written notices, with retries until `onUsed` accepts them. */
export class QuotaNotices {
  readonly #options: QuotaNoticesOptions
  readonly #underWay = new Set<Promise<void>>()
  /** Calls that store which notices are delivered. */
  readonly #stored = new Set<Promise<void>>()
  /** Ids of the notices that `onUsed` has received and not answered yet. */
  readonly #unanswered = new Set<string>()
  #isClosed = false

  constructor(options: QuotaNoticesOptions) {
    this.#options = options
  }

  /**
   * Delivers notices. Never rejects: failed deliveries are retried by any process. Without `onUsed`, only observers are
   * notified, and delivery is left to a process with `onUsed`.
   */
  deliver(notices: readonly StoredNotice[]): Promise<void> {
    const delivered = this.#deliver(notices)
    this.#underWay.add(delivered)
    return delivered.finally(() => this.#underWay.delete(delivered))
  }

  /** Resolves when all deliveries under way have ended. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** Resolves when no database call is under way. Does not wait for `onUsed`. */
  async stored(): Promise<void> {
    await Promise.all(this.#stored)
  }

  /** Stops deliveries; undelivered notices are left to other processes. */
  close(): void {
    this.#isClosed = true
  }

  async #deliver(notices: readonly StoredNotice[]): Promise<void> {
    const delivered = await Promise.all(notices.map((notice) => this.#deliverOne(notice)))
    const ids = delivered.flatMap((id) => id ?? [])
    if (ids.length === 0 || this.#isClosed) return
    const stored = this.#options.table.delivered(ids).catch(() => {})
    this.#stored.add(stored)
    await stored
    this.#stored.delete(stored)
  }

  /**
   * Delivers notices that another process claimed but did not deliver. Resolves when `onUsed` has received them: an
   * `onUsed` that never settles must not delay the caller.
   */
  async deliverLate(names: readonly string[]): Promise<void> {
    const { onUsed, table } = this.#options
    if (!onUsed || this.#isClosed) return
    const late = await table.undelivered(names, CLAIM_MS, AT_ONCE)
    void this.deliver(late.filter(({ id }) => !this.#unanswered.has(id)))
  }

  async #deliverOne({ name, id, key, period, threshold, used, included }: StoredNotice): Promise<string | undefined> {
    const { observers, onUsed, policyOf } = this.#options
    const notice: QuotaUsed = { id, policy: policyOf(name), key: listedKey(key), period, threshold, used, included }
    observers.event('quota', { ...notice })
    this.#unanswered.add(id)
    try {
      await onUsed?.(notice)
      return onUsed && id
    } catch (error) {
      observers.event('hookFailed', { hook: 'onUsed', error })
      return undefined
    } finally {
      this.#unanswered.delete(id)
    }
  }
}
