import type { QuotaTable } from '@sluice/counters/backend'
import { type Clock, repeatEvery } from '@sluice/limiter-core/backend'
import type { AccountStore } from './account/account-store.ts'
import type { OpenQuotas } from './open-quotas.ts'
import type { QuotaNotices } from './quota-notices.ts'

const INTERVAL_MS = 5_000
/** Maximum number of accounts settled in one run. */
const MAX_DUE = 256

export interface QuotaMaintenanceOptions {
  readonly table: QuotaTable
  readonly clock: Clock
  readonly store: AccountStore
  readonly counts: OpenQuotas
  readonly notices: QuotaNotices
}

/**
 * Handles, every 5 s, what no request handles: ended leases and reservations, notices that another process did not
 * deliver, and writes without a reply.
 */
export class QuotaMaintenance {
  readonly #options: QuotaMaintenanceOptions
  readonly #stop: () => void
  #run: Promise<void> | undefined

  constructor(options: QuotaMaintenanceOptions) {
    this.#options = options
    this.#stop = repeatEvery(options.clock, INTERVAL_MS, () => {
      // independent of the run, which a call without a reply delays
      options.store.settleUnconfirmedWrites()
      this.#run ??= this.#handleDue().finally(() => {
        this.#run = undefined
      })
    })
  }

  /** Resolves when no run is under way. */
  async idle(): Promise<void> {
    await this.#run
  }

  /** Starts no further runs. */
  stop(): void {
    this.#stop()
  }

  async #handleDue(): Promise<void> {
    const { table, store, counts, notices } = this.#options
    if (counts.names.length === 0) return
    try {
      for (const id of await table.due(counts.names, MAX_DUE)) {
        const counter = counts.byName(id.name)
        // every change first settles ended leases and reservations, so an empty change is enough
        if (counter) store.change(id, counter.terms, { apply: () => {} }).catch(() => {})
      }
      await notices.deliverLate(counts.names)
    } catch {
      // retried in the next run
    }
  }
}
