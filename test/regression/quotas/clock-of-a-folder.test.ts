import { describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { quotasOnly } from '../../quotas/faults/faulty-quota-table.ts'

const NAMES = { policy: 'calls', scope: 'folder' } as const
const LIMIT = 3_000
const HOUR_MS = 3_600_000

/** A folder that one process at a time opens, with a clock that can be set. */
class Folder {
  readonly server = new FakeClock({ wallMs: Date.UTC(2026, 10, 2, 12) })
  readonly #table = new MemoryQuotaTable(() => this.server.wall())

  /** Opens the folder in a new process and returns a function that creates quotas of this process. */
  open(opening: string) {
    const table = Object.assign(Object.create(this.#table), bound(this.#table), { opening })
    return (clock: FakeClock) => {
      const quotas = createQuotas(quotasOnly(table), { clock })
      const policies = [quota({ name: NAMES.policy, limit: LIMIT, per: 'month', backend: quotas })]
      return { quotas, limiter: createLimiter({ policies, scope: NAMES.scope, clock, onBackendError: 'deny' }) }
    }
  }
}

/** Returns the methods of a table that need its private fields. */
function bound(table: MemoryQuotaTable): object {
  const names = ['read', 'commit', 'usedToken', 'due', 'stranded', 'undelivered', 'delivered'] as const
  return Object.fromEntries(names.map((name) => [name, table[name].bind(table)]))
}

describe('after the clock was set back', () => {
  test('a lease of the process that has the folder open is not charged before it ends', async () => {
    const folder = new Folder()
    const start = folder.open('one')
    const [first, second] = [start(new FakeClock()), start(new FakeClock())]
    folder.server.stepWall(-HOUR_MS)
    await first.limiter.take('a')
    await first.limiter.take('a')
    // its change of the account settles leases that have ended
    await second.quotas.topUp('a', 1, { token: 'one', ...NAMES })
    expect(await second.quotas.stranded(NAMES)).toEqual([])
    const { stranded, onLease } = await second.quotas.balance('a', NAMES)
    expect(stranded).toBe(0)
    expect(onLease).toBeGreaterThan(0)
  })

  test('a lease of an earlier process is charged when the folder is opened', async () => {
    const folder = new Folder()
    const crashed = folder.open('one')(new FakeClock())
    await crashed.limiter.take('a')
    await crashed.limiter.take('a')
    folder.server.stepWall(-HOUR_MS)
    const next = folder.open('two')(new FakeClock())
    expect(await next.quotas.balance('a', NAMES)).toMatchObject({ onLease: 0 })
  })
})
