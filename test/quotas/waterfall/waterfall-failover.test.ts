import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, credits, quota, waterfall } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { quotasOnly } from '../faults/faulty-quota-table.ts'
import { BehindTable } from '../faults/lagging-table.ts'

test('after a failover to a server that was behind, takes repeated with their keys count once', async () => {
  const clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  const servers = new BehindTable(new MemoryQuotaTable(() => clock.wall()), new MemoryQuotaTable(() => clock.wall()))
  const processes = [1, 2].map(() => {
    const quotas = createQuotas(quotasOnly(servers.table), { clock })
    // too small to be leased, so that each take of the limiter is charged at once
    const included = quota({ name: 'included', limit: 70, per: 'month', backend: quotas })
    const overage = quota({ name: 'overage', limit: 100, per: 'month', backend: quotas })
    const limiter = createLimiter({ policies: [included], scope: 'default', clock, deadlineMs: 60_000, shared: true })
    return { quotas, limiter, plan: waterfall([included, credits({ backend: quotas }), overage]) }
  })
  const [one, other] = processes
  await one.quotas.topUp('a', 10, { policy: 'credits', token: 'invoice' })
  await one.plan.take('a', 20, { idempotencyKey: 'replicated' })
  await one.limiter.take('a', 5)
  servers.cutOff()
  await one.limiter.take('a', 3)
  const lost = await other.plan.take('a', 60, { idempotencyKey: 'lost' })
  expect(lost.parts.map(({ units }) => units)).toEqual([42, 10, 8])
  await other.limiter.peek('a')
  servers.failOver()

  expect((await one.plan.take('a', 20, { idempotencyKey: 'replicated' })).parts).toEqual([
    { name: 'included', units: 20 },
  ])
  // the limiter charges again what it took; the take of the waterfall is charged again by its caller
  await one.limiter.take('a', 1)
  const again = await other.plan.take('a', 60, { idempotencyKey: 'lost' })
  expect(again.allowed).toBe(true)
  expect(await one.plan.take('a', 60, { idempotencyKey: 'lost' })).toEqual(again)
  const used = await Promise.all(
    ['included', 'credits', 'overage'].map(async (policy) => (await one.quotas.balance('a', { policy })).used),
  )
  expect(used.reduce((sum, units) => sum + units, 0)).toBe(20 + 5 + 3 + 1 + 60)
  expect(used[0]).toBe(70)
  for (const { quotas } of processes) await quotas.close()
})
