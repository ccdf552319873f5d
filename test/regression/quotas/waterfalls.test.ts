import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createQuotas, credits, type Quotas, quota, type WaterfallInput, waterfall } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { quotasOnly } from '../../quotas/faults/faulty-quota-table.ts'
import { BehindTable } from '../../quotas/faults/lagging-table.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let clock: FakeClock
let ledger: MemoryLedger
let quotas: Quotas
let a: WaterfallInput
let b: WaterfallInput
let prepaid: WaterfallInput

beforeEach(() => {
  clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  ledger = new MemoryLedger(clock)
  quotas = createQuotas(ledger, { clock, serverTime: () => clock.wall() })
  a = quota({ name: 'a', limit: 10, per: 'month', backend: quotas })
  b = quota({ name: 'b', limit: 10, per: 'month', backend: quotas })
  prepaid = credits({ backend: quotas })
})
afterEach(() => quotas.close())

async function used(policy: string): Promise<number> {
  return (await quotas.balance('key', { policy })).used
}

test('a waterfall that is closed twice does not close another one with the same parts', async () => {
  const first = waterfall([a, prepaid])
  first.close()
  waterfall([a, prepaid])
  first.close()
  expect(await quotas.topUp('key', 1, { policy: 'credits', token: 'invoice' })).toBe(true)
})

test('units of credits that have expired since the take are not spendable after a refund', async () => {
  const plan = waterfall([prepaid])
  await quotas.topUp('key', 100, { policy: 'credits', token: 'invoice', expiresAt: clock.wall() + DAY_MS })
  const taken = await plan.take('key', 60)
  clock.stepWall(DAY_MS)
  expect(await plan.refund('key', 60, taken)).toMatchObject({ units: 60 })
  expect((await plan.peek('key')).remaining).toBe(0)
  expect(await quotas.balance('key', { policy: 'credits' })).toMatchObject({ used: 0, toppedUp: 0, left: 0 })
})

test('an idempotency key belongs to the first part, and each charge has an entry', async () => {
  const [forwards, backwards] = [waterfall([a, b]), waterfall([b, a])]
  const options = { idempotencyKey: 'job' }
  await forwards.take('key', 15, options)
  await expect(backwards.refund('key', 1, 'job')).rejects.toMatchObject({ code: 'SLUICE_UNKNOWN_TAKE' })
  expect((await backwards.take('key', 4, options)).parts).toEqual([{ name: 'b', units: 4 }])
  expect(await backwards.refund('key', 3, 'job')).toMatchObject({ units: 3 })
  expect(await forwards.refund('key', 15, 'job')).toMatchObject({ units: 15 })
  const table = ledger.openQuotas(() => clock.wall())
  for (const [name, units] of [
    ['a', 0],
    ['b', 1],
  ] as const) {
    expect(await used(name)).toBe(units)
    const entries = await table.entries({ name: `default/${name}/calendar-month@1`, key: 'key', after: 0, limit: 100 })
    expect(entries.reduce((sum, entry) => sum + entry.units, 0)).toBe(units)
  }
})

test('reservations of one id under waterfalls with other first parts are separate', async () => {
  const [forwards, backwards] = [waterfall([a, b]), waterfall([b, a])]
  const options = { idempotencyKey: 'job' }
  await forwards.reserve('key', 15, options)
  expect((await backwards.reserve('key', 3, options)).parts).toEqual([{ name: 'b', units: 3 }])
  expect((await forwards.peek('key')).remaining).toBe(2)
  await backwards.settle('key', 3, 'job')
  expect((await forwards.peek('key')).remaining).toBe(2)
  await forwards.settle('key', 15, 'job')
  expect([await used('a'), await used('b')]).toEqual([10, 8])
})

test('a refund under a waterfall without a part of the take rejects, and loses no units', async () => {
  const [large, small] = [waterfall([a, b]), waterfall([a])]
  const taken = await large.take('key', 15)
  await expect(small.refund('key', 6, taken)).rejects.toMatchObject({ code: 'SLUICE_UNKNOWN_TAKE' })
  expect(await large.refund('key', 6, taken)).toMatchObject({ units: 6 })
  expect([await used('a'), await used('b')]).toEqual([9, 0])
  // what is left was taken from the parts that both have
  expect(await small.refund('key', 9, taken, { idempotencyKey: 'rest' })).toMatchObject({ units: 9 })
})

test('the error of settle names its own range and method', async () => {
  const plan = waterfall([a])
  await plan.reserve('key', 5, { idempotencyKey: 'job' })
  await expect(plan.settle('key', -1, 'job')).rejects.toThrow('settle: units: expected an integer from 0, received -1')
  await plan.settle('key', 5, 'job')
  await expect(plan.settle('key', 4, 'job')).rejects.toThrow('settle: units: expected 5, as in the first call')
})

test('a denied take passes exactly when a reservation ends', async () => {
  const plan = waterfall([prepaid, a])
  await quotas.topUp('key', 20, { policy: 'credits', token: 'invoice' })
  await plan.reserve('key', 18, { ttlMs: MINUTE_MS })
  await plan.reserve('key', 12, { ttlMs: 2 * MINUTE_MS })
  expect((await plan.take('key', 18)).retryAfterMs).toBe(MINUTE_MS)
  expect((await plan.take('key', 30)).retryAfterMs).toBe(2 * MINUTE_MS)
  expect((await plan.take('key', 31)).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  clock.stepWall(2 * MINUTE_MS - 1)
  expect((await plan.peek('key', 30)).allowed).toBe(false)
  clock.stepWall(1)
  expect((await plan.take('key', 30)).allowed).toBe(true)
})

test('a denied take does not wait for credits that expire before', async () => {
  const plan = waterfall([prepaid, a])
  await quotas.topUp('key', 20, { policy: 'credits', token: 'invoice', expiresAt: clock.wall() + DAY_MS })
  await quotas.reserve('key', 10, { policy: 'a', ttlMs: 2 * DAY_MS })
  expect((await plan.peek('key', 25)).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  expect((await plan.peek('key', 21)).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  await quotas.topUp('key', 15, { policy: 'credits', token: 'second invoice' })
  expect((await plan.peek('key', 36)).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  expect((await plan.peek('key', 25)).retryAfterMs).toBe(0)
})

test('a denied take waits until reserved units are carried over', async () => {
  clock.stepWall(27 * DAY_MS)
  const plan = waterfall([quota({ name: 'c', limit: 10, per: 'month', backend: quotas, carryOver: 10 })])
  await plan.reserve('key', 8, { ttlMs: 7 * DAY_MS })
  expect((await plan.peek('key', 12)).retryAfterMs).toBe(2 * DAY_MS)
  expect((await plan.peek('key', 15)).retryAfterMs).toBe(7 * DAY_MS)
  clock.stepWall(7 * DAY_MS - 1)
  expect((await plan.peek('key', 15)).allowed).toBe(false)
  clock.stepWall(1)
  expect((await plan.take('key', 15)).allowed).toBe(true)
})

test('a settlement is repeatable after a failover that lost all but the restored reservation', async () => {
  const servers = new BehindTable(new MemoryQuotaTable(() => clock.wall()), new MemoryQuotaTable(() => clock.wall()))
  const own = createQuotas(quotasOnly(servers.table), { clock })
  const plan = waterfall([credits({ backend: own }), quota({ name: 'overage', limit: 10, per: 'month', backend: own })])
  const named = { policy: 'overage' }
  await plan.take('key', 1, { idempotencyKey: 'replicated' })
  await own.balance('key', named)
  servers.cutOff()
  clock.stepWall(1)
  await plan.reserve('key', 5, { idempotencyKey: 'job' })
  await own.reserve('key', 1, { ...named, id: 'read by the store' })
  servers.failOver()
  clock.stepWall(1)
  // the store of single accounts restores the reservations
  await own.reserve('key', 1, { ...named, id: 'after the failover' })
  expect(await own.balance('key', named)).toMatchObject({ used: 1, reserved: 7 })
  const settled = await plan.settle('key', 4, 'job')
  expect(await plan.settle('key', 4, 'job')).toEqual(settled)
  expect(await own.balance('key', named)).toMatchObject({ used: 5, reserved: 2 })
  await own.close()
})
