import type { CounterLedger } from '@sluice/counters'
import { createLimiter, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { createQuotas, type Quotas, type QuotasOptions, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
/** Midnight of 2026-11-01 in UTC, when a month begins. */
export const NOVEMBER = Date.UTC(2026, 10, 1)

type QuotaInput = Partial<Parameters<typeof quota>[0]>

/** Processes that hold units of one quota, with one database and one clock. */
export class HoldFleet {
  readonly clock: FakeClock
  readonly #ledger: CounterLedger
  readonly #scope: string
  readonly #quotas: Quotas[] = []
  readonly #limiters: Limiter[] = []

  constructor(ledger: CounterLedger, scope: string, wallMs: number = NOVEMBER + DAY_MS) {
    this.clock = new FakeClock({ wallMs })
    this.#ledger = ledger
    this.#scope = scope
  }

  get names(): { readonly policy: string; readonly scope: string } {
    return { policy: 'tokens', scope: this.#scope }
  }

  /** Creates another process. */
  join(options: QuotasOptions = {}): Quotas {
    const { clock } = this
    const made = createQuotas(this.#ledger, { clock, serverTime: () => clock.wall(), waitMs: '1h', ...options })
    this.#quotas.push(made)
    return made
  }

  /** Creates a limiter of a process, with a quota of 100 tokens a month that are held for at most 8 minutes. */
  limiter(backend: Quotas, input: QuotaInput = {}, beside: readonly PolicyInput[] = []): Limiter {
    const { clock } = this
    const own = quota({ name: 'tokens', limit: 100, per: 'month', maxHoldMs: '8m', backend, ...input })
    const limiter = createLimiter({ policies: [own, ...beside], scope: this.#scope, clock, deadlineMs: 60_000 })
    this.#limiters.push(limiter)
    return limiter
  }

  async close(): Promise<void> {
    for (const limiter of this.#limiters) await limiter.close()
    for (const quotas of this.#quotas) await quotas.close()
  }
}
