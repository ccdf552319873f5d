import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { quotasOnly } from '../faults/faulty-quota-table.ts'
import { BehindTable } from '../faults/lagging-table.ts'
import { HoldFleet, MINUTE_MS } from './hold-fleet.ts'

// a failover to a server that lacks the last writes
let database: BehindTable
let all: HoldFleet

beforeEach(() => {
  const now = (): number => all.clock.wall()
  database = new BehindTable(new MemoryQuotaTable(now), new MemoryQuotaTable(now))
  all = new HoldFleet(quotasOnly(database.table), 'lost')
})
afterEach(() => all.close())

test('holds and settlements that a database lost are restored by the process that made them', async () => {
  const quotas = all.join()
  const limiter = all.limiter(quotas)
  const [first] = [await limiter.hold('a', { reserve: 30 }), await limiter.hold('a', { reserve: 10 })]
  database.cutOff()
  const lost = await limiter.hold('a', { reserve: 20 })
  await first.settle(25)
  database.failOver()
  expect(await quotas.balance('a', all.names)).toMatchObject({ used: 25, held: 30, left: 45 })
  await lost.settle(20)
  expect(await quotas.balance('a', all.names)).toMatchObject({ used: 45, held: 10, left: 45 })
})

test('holds that a database lost stay held beside the holds of other processes since then', async () => {
  const [quotas, other] = [all.join(), all.join()]
  const [limiter, second] = [all.limiter(quotas), all.limiter(other)]
  await limiter.take('a', 1)
  await second.take('a', 1)
  database.cutOff()
  await limiter.hold('a', { reserve: 60 })
  database.failOver()
  all.clock.advance(2 * MINUTE_MS)
  await second.hold('a', { reserve: 10, maxMs: '8m' })
  await limiter.peek('a')
  expect(await other.balance('a', all.names)).toMatchObject({ used: 2, held: 70, left: 28 })
  all.clock.advance(8 * MINUTE_MS)
  all.clock.advance(MINUTE_MS)
  expect(await other.balance('a', all.names)).toMatchObject({ used: 2, held: 0, left: 98 })
})
