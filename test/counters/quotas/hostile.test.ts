import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { createQuotas, quota } from '@sluice/counters/quotas'
import { createLimiter } from '@sluice/limiter-core'
import { type PostgresServer, startPostgres } from '../../services/postgres-server.ts'

const NAMES = { policy: 'calls', scope: 'hostile' } as const
const KEYS = [
  '\0',
  '\\0',
  '\\',
  '\ud800',
  '\udc00',
  '\\ud800',
  '__proto__',
  'constructor',
  '=1+1',
  "'; drop table x",
  ' ',
  '💥',
]
const HUGE = [
  'x'.repeat(1_000_000),
  '\0'.repeat(500_000),
  `${'x'.repeat(999_999)}\ud800`,
  `${'x'.repeat(999_999)}\ud801`,
]

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  await postgresLedger(postgres.pool()).migrate()
})
afterAll(() => postgres.stop())

function open(scope: string, limit: number) {
  const quotas = createQuotas(postgresLedger(postgres.pool()))
  const policies = [quota({ name: NAMES.policy, limit, per: 'month', backend: quotas })]
  return { quotas, limiter: createLimiter({ policies, scope, deadlineMs: 20_000, onBackendError: 'deny' }) }
}

describe('quotas of hostile keys and limits', () => {
  test.each([5, 1_000])('each key has an account of its own, whatever is in it: limit %i', async (limit) => {
    const names = { ...NAMES, scope: `keys-${limit}` }
    const { quotas, limiter } = open(names.scope, limit)
    const keys = [...KEYS, ...HUGE]
    for (const [index, key] of keys.entries()) expect((await limiter.take(key, 1 + (index % 4))).counted).toBe(true)
    await quotas.close()
    const reader = open(names.scope, limit)
    for (const [index, key] of keys.entries()) {
      expect([index, await reader.quotas.balance(key, names)]).toMatchObject([index, { used: 1 + (index % 4) }])
    }
    await reader.quotas.close()
  })

  test('counts exactly at the largest limit', async () => {
    const limit = 999_999_999_999_999
    const names = { ...NAMES, scope: `limit-${limit}` }
    const { quotas, limiter } = open(names.scope, limit)
    expect((await limiter.take('a', limit - 1)).allowed).toBe(true)
    expect((await limiter.take('a', 2)).allowed).toBe(false)
    expect((await limiter.take('a', 1)).allowed).toBe(true)
    await quotas.close()
    const reader = open(names.scope, limit)
    expect(await reader.quotas.balance('a', names)).toMatchObject({ used: limit, left: 0, toppedUp: 0 })
    await reader.quotas.close()
  })

  test('10,000 keys at once are all counted', async () => {
    const { quotas, limiter } = open('crowd', 5)
    const takes = Array.from({ length: 10_000 }, (_, key) => limiter.take(`key-${key}`))
    expect((await Promise.all(takes)).every(({ allowed, counted }) => allowed && counted)).toBe(true)
    await quotas.close()
    const { rows } = await postgres
      .pool()
      .query(`select sum(units)::int as units from sluice.quota_usage where name like 'crowd/%'`)
    expect(rows).toEqual([{ units: 10_000 }])
  })
})
