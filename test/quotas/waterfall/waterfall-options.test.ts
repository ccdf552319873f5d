import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { limitOverrides, memoryBackend } from '@sluice/limiter-core'
import { createQuotas, credits, type Quotas, quota, type WaterfallInput, waterfall } from '@sluice/quotas'
import { FakeClock, hostileKeys } from '@sluice/testkit'

let clock: FakeClock
let ledger: MemoryLedger
let quotas: Quotas

beforeEach(() => {
  clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  ledger = new MemoryLedger(clock)
  quotas = createQuotas(ledger, { clock })
})
afterEach(() => quotas.close())

function included(more: Partial<Parameters<typeof quota>[0]> = {}): WaterfallInput {
  return quota({ name: 'included', limit: 10, per: 'month', backend: quotas, ...more })
}

describe('a waterfall', () => {
  test.each<readonly [string, () => unknown, string]>([
    ['no parts', () => [], 'parts: expected an array of 1 to 8 quotas and credits, received 0 parts'],
    [
      'parts that are not an array',
      () => included(),
      'parts: expected an array of 1 to 8 quotas and credits, received',
    ],
    [
      'nine parts',
      () => Array.from({ length: 9 }, (_, index) => included({ name: `part ${index}` })),
      'parts: expected an array of 1 to 8 quotas and credits, received 9 parts',
    ],
    [
      'a part that is missing',
      () => [included(), undefined, credits({ backend: quotas })],
      'parts: expected the results of quota() and credits()',
    ],
    [
      'a policy that is not a quota',
      () => [{ name: 'rate', limit: 1, window: '1s', backend: quotas }],
      'parts: expected the results of quota() and credits()',
    ],
    [
      'two parts of one name',
      () => [included(), included()],
      "parts: expected unique names, received two parts named 'included'",
    ],
    [
      'parts of several quotas',
      () => [included(), credits({ backend: createQuotas(new MemoryLedger(clock)) })],
      'parts: expected parts of one createQuotas(), received parts of several backends',
    ],
    [
      'several units',
      () => [included({ unit: 'tokens' }), credits({ backend: quotas })],
      "parts: expected one unit, received 'tokens' and 'requests'",
    ],
    [
      'a part in shadow mode',
      () => [included({ mode: 'shadow' })],
      "mode: expected 'enforce' in each part, received 'shadow'",
    ],
    [
      'overrides that exempt other keys',
      () => [included({ overrides: limitOverrides({ limits: { a: 1 }, others: 'exempt' }) })],
      "overrides: expected others: 'policy', received 'exempt'",
    ],
    [
      'another backend',
      () => [credits({ backend: memoryBackend() })],
      'parts: expected quotas and credits with a backend from createQuotas()',
    ],
  ])('rejects %s', (_, parts, message) => {
    expect(() => waterfall(parts() as WaterfallInput[])).toThrow(`SLUICE_BAD_OPTION: waterfall: ${message}`)
  })

  test('rejects unknown options, an invalid scope and invalid credits', () => {
    expect(() => waterfall([included()], { name: 'x' } as never)).toThrow('SLUICE_BAD_OPTION: waterfall: ')
    expect(() => waterfall([included()], { scope: '' })).toThrow('SLUICE_BAD_NAME: scope: ')
    expect(() => credits({} as never)).toThrow('SLUICE_BAD_OPTION: credits: backend: ')
    expect(() => credits({ backend: quotas, limit: 1 } as never)).toThrow('SLUICE_BAD_OPTION: credits: ')
    expect(() => credits({ backend: quotas, name: 'a\nb' })).toThrow('SLUICE_BAD_NAME')
  })

  test('rejects invalid idempotency keys and options of calls', async () => {
    const plan = waterfall([included()])
    for (const idempotencyKey of ['', 'x'.repeat(257), 'a\0b', 5 as never]) {
      await expect(plan.take('a', 1, { idempotencyKey })).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
      await expect(plan.refund('a', 1, idempotencyKey)).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
    }
    await expect(plan.take('a', 1, { token: 'x' } as never)).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
    await expect(plan.refund('a', 1, undefined as never)).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  })

  test('uses the limits of single keys', async () => {
    const overrides = limitOverrides({ limits: { vip: 50 } })
    const plan = waterfall([included({ overrides }), quota({ name: 'overage', limit: 5, per: 'day', backend: quotas })])
    expect((await plan.peek('vip')).remaining).toBe(55)
    expect((await plan.peek('a')).remaining).toBe(15)
  })

  test('with one part, and with parts that have no units for the key, decides like a quota', async () => {
    const plan = waterfall([credits({ backend: quotas })])
    expect(await plan.take('a', 1)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
    await quotas.topUp('a', 1, { policy: 'credits', token: 'invoice' })
    expect(await plan.take('a', 1)).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('counts hostile keys separately', async () => {
    const plan = waterfall([included({ limit: 1 }), credits({ backend: quotas })])
    for (const key of hostileKeys) {
      expect((await plan.take(key, 1, { idempotencyKey: 'same' })).allowed).toBe(true)
      expect(await plan.take(key, 1)).toMatchObject({ allowed: false, remaining: 0 })
    }
  })

  test('leaves its quotas open when it is closed, and rejects after the quotas are closed', async () => {
    const plan = waterfall([included(), credits({ backend: quotas })])
    plan.close()
    await expect(quotas.topUp('a', 1, { policy: 'credits', token: 'x' })).rejects.toMatchObject({
      code: 'SLUICE_BAD_OPTION',
    })
    const other = waterfall([included(), credits({ backend: quotas })])
    await quotas.topUp('a', 1, { policy: 'credits', token: 'x' })
    expect((await other.take('a', 11)).allowed).toBe(true)
    await quotas.close()
    await expect(other.take('a', 1)).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
  })

  test('completes takes under way before its quotas are closed', async () => {
    const plan = waterfall([included()])
    const taken = plan.take('a', 3)
    await quotas.close()
    expect((await taken).allowed).toBe(true)
  })

  test('reports credits in balances and usage, without notices of included units', async () => {
    const notices: unknown[] = []
    const own = createQuotas(ledger, { clock, onUsed: (notice) => void notices.push(notice) })
    const plan = waterfall([credits({ backend: own }), quota({ name: 'overage', limit: 10, per: 'day', backend: own })])
    await own.topUp('b', 5, { policy: 'credits', token: 'invoice' })
    await plan.take('b', 14)
    await own.idle()
    expect(notices).toEqual([expect.objectContaining({ key: 'b', policy: 'overage', threshold: 80, used: 9 })])
    expect(await own.balance('b', { policy: 'credits' })).toMatchObject({
      included: 0,
      toppedUp: 5,
      topUpLeft: 0,
      used: 5,
      left: 0,
      available: 0,
    })
    const [month] = await own.usage('b', { from: 0, to: clock.wall() + 1, by: 'month', policy: 'credits' })
    expect(month).toMatchObject({ from: Date.UTC(2026, 10, 1), used: 5, toppedUp: 5 })
    await own.close()
  })
})
