import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from '../../quotas/faults/faulty-quota-table.ts'
import { eventually } from '../../services/eventually.ts'

// a database that fails between two quotas of one request: the refund of the first quota fails, too

test.each([
  ['deny', 0],
  ['allow', 5],
] as const)('a take that failed in the second quota is refunded in the first later: %s', async (rule, used) => {
  const clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 1) })
  let commits = 0
  let failures = 0
  const before = (): void => {
    if (failures > 0 && failures--) throw new Error('connection closed')
  }
  const after = (call: string): void => {
    // the read of the second quota fails, and then the refund of the first quota
    if (call === 'commit' && ++commits === 1) failures = 2
  }
  const table = new FaultyQuotaTable(new MemoryQuotaTable(() => clock.wall()), { before, after })
  const quotas = createQuotas(quotasOnly(table), { clock })
  const policies = ['first', 'second'].map((name) => quota({ name, limit: 50, per: 'month', backend: quotas }))
  const limiter = createLimiter({ policies, scope: 'parts', clock, deadlineMs: 60_000, onBackendError: rule })
  let allowed: boolean | undefined
  Promise.resolve(limiter.take('a', 5)).then((decision) => {
    allowed = decision.allowed
  })
  const usedOf = async (name: string): Promise<number> =>
    (await quotas.balance('a', { policy: name, scope: 'parts' })).used
  const charged = async (): Promise<boolean> => {
    clock.advance(1_000)
    if (allowed === undefined) return false
    const found = [await usedOf('first'), await usedOf('second')]
    return found[0] === used && found[1] === used
  }
  await eventually(charged, { what: `${used} units charged in each quota`, timeoutMs: 5_000 })
  expect(allowed).toBe(rule === 'allow')
  await quotas.close()
})
