import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import type { FakeClock } from '@sluice/testkit'
import type { QuotaTable } from '../../../packages/counters/src/ledger/quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from './faulty-quota-table.ts'

export const NAMES = { policy: 'calls', scope: 'crashes' } as const

/** The call of a quota table at which a process dies, counted from 1, and whether that call takes effect. */
export interface Death {
  readonly call: number
  readonly side: 'before' | 'after'
}

export interface MortalOptions {
  /** Clock of the process alone, so that its timers stop when it dies. */
  readonly clock: FakeClock
  readonly table: QuotaTable
  /** Id of the opening; undefined for a table that several processes use at once. */
  readonly opening: string | undefined
  readonly limit: number
  /** Undefined for a process that does not die. */
  readonly death?: Death
}

/** A process that never receives the answer of one call of its table, nor of any later call. */
export class MortalProcess {
  isDead = false
  calls = 0
  readonly #options: MortalOptions
  readonly #table: QuotaTable

  constructor(options: MortalOptions) {
    this.#options = options
    const { opening } = options
    const table = new FaultyQuotaTable(options.table, {
      before: () => {
        if (!this.isDead) this.calls++
        return this.#reached('before')
      },
      after: () => this.#reached('after'),
    })
    this.#table = Object.assign(table, { opening })
  }

  open(): { readonly quotas: Quotas; readonly limiter: Limiter } {
    const { clock, limit } = this.#options
    const quotas = createQuotas(quotasOnly(this.#table), { clock, waitMs: '1h' })
    const policies = [quota({ name: NAMES.policy, limit, per: 'month', backend: quotas })]
    return { quotas, limiter: createLimiter({ policies, clock, scope: NAMES.scope, deadlineMs: 60_000 }) }
  }

  #reached(side: Death['side']): Promise<void> | void {
    const { death } = this.#options
    if (death?.call === this.calls && death.side === side) this.isDead = true
    return this.isDead ? new Promise(() => {}) : undefined
  }
}
