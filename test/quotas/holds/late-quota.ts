import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from '../faults/faulty-quota-table.ts'
import { NOVEMBER } from './hold-fleet.ts'

const NAMES = { policy: 'tokens', scope: 'late' } as const
const DEADLINE_MS = 50
const LATE_MS = 80

/** A quota with holds, whose database can answer a write later than the deadline, or not at all. */
export class LateQuota {
  readonly clock: FakeClock = new FakeClock({ wallMs: NOVEMBER })
  readonly limiter: Limiter
  /** What happens to the answers of writes: all of them are late, or the next one is lost. */
  fault: 'none' | 'slow' | 'lost' = 'none'
  readonly quotas: Quotas

  constructor(limit: number) {
    const { clock } = this
    const after = (call: string): Promise<void> | void => {
      if (call !== 'commit' || this.fault === 'none') return
      if (this.fault === 'slow') return new Promise((resolve) => void clock.after(LATE_MS, resolve))
      this.fault = 'none'
      throw new Error('connection closed')
    }
    const table = new FaultyQuotaTable(new MemoryQuotaTable(() => clock.wall()), { after })
    this.quotas = createQuotas(quotasOnly(table), { clock })
    const policies = [quota({ name: NAMES.policy, limit, per: 'month', maxHoldMs: '10m', backend: this.quotas })]
    const settings = { scope: NAMES.scope, clock, deadlineMs: DEADLINE_MS, onBackendError: 'deny' } as const
    this.limiter = createLimiter({ policies, ...settings })
  }

  /** Waits for a promise while 10 ms pass in each turn. */
  async pass<T>(asked: T | PromiseLike<T>, ms: number): Promise<T> {
    for (let passed = 0; passed < ms; passed += 10) {
      for (let turns = 0; turns < 5; turns++) await new Promise<void>((resolve) => afterThisTurn(resolve))
      this.clock.advance(10)
    }
    return asked
  }

  /** Returns the used and the held units. */
  async state(): Promise<readonly number[]> {
    const { used, held } = await this.quotas.balance('a', NAMES)
    return [used, held]
  }

  close(): Promise<void> {
    return this.quotas.close()
  }
}
