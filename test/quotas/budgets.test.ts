import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

// known failures of budgets in other gateways; units are cents
const NAMES = { policy: 'budget', scope: 'budgets' } as const

let clock: FakeClock
let quotas: Quotas
let limiter: Limiter

beforeEach(() => {
  clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  quotas = createQuotas(new MemoryLedger(clock), { clock })
  const policies = [quota({ name: NAMES.policy, limit: 45, per: 'month', backend: quotas })]
  limiter = createLimiter({ policies, scope: NAMES.scope, clock })
})
afterEach(() => quotas.close())

describe('a budget', () => {
  test('with room for three requests admits three of five concurrent ones', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => limiter.take('team', 15)))
    expect(all.filter(({ allowed }) => allowed).length).toBe(3)
    const reserved = await Promise.all(Array.from({ length: 5 }, () => quotas.reserve('other', 15, NAMES)))
    expect(reserved.filter((one) => one !== undefined).length).toBe(3)
  })

  test('recovers the reservations of cancelled requests, even if they were never voided', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await quotas.reserve('team', 45, { ttlMs: '10s', ...NAMES })).toBeDefined()
      expect(await quotas.reserve('team', 1, NAMES)).toBeUndefined()
      clock.advance(10_000)
      expect(await quotas.balance('team', NAMES)).toMatchObject({ used: 0, reserved: 0, left: 45 })
    }
  })

  test('is not exhausted by reservations that are voided', async () => {
    for (let round = 0; round < 100; round++) {
      const id = `request-${round}`
      expect(await quotas.reserve('team', 45, { id, ...NAMES })).toBeDefined()
      expect(await quotas.void('team', id, NAMES)).toBe('voided')
    }
    expect((await limiter.take('team', 45)).allowed).toBe(true)
  })

  test('is reserved before the response, and a response that costs more blocks the next request', async () => {
    await quotas.reserve('team', 40, { id: 'request', ...NAMES })
    expect((await limiter.take('team', 10)).allowed).toBe(false)
    await quotas.post('team', 'request', { units: 60, ...NAMES })
    expect(await quotas.balance('team', NAMES)).toMatchObject({ used: 60, left: -15 })
    expect((await limiter.take('team', 1)).allowed).toBe(false)
  })
})
