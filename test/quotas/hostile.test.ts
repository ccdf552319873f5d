import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, type QuotasOptions, quota, type StrandedLease } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { listedKey, storedKey, storedListed } from '../../packages/quotas/src/stored-key.ts'
import { eventually } from '../services/eventually.ts'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'

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

function open(scope: string, limit: number, options: QuotasOptions = {}) {
  const quotas = createQuotas(postgresLedger(postgres.pool()), options)
  const policies = [quota({ name: NAMES.policy, limit, per: 'month', backend: quotas })]
  return { quotas, limiter: createLimiter({ policies, scope, deadlineMs: 60_000, onBackendError: 'deny' }) }
}

describe('quotas of hostile keys and limits', () => {
  test.each([5, 1_000])('each key has a separate account, whatever it contains: limit %i', async (limit) => {
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

  // long in UTF-8, but short enough to be leased
  test.each(['€'.repeat(200), '\ud800'.repeat(201), `\\sha256:${'A'.repeat(43)}`, `\\\\sha256:${'A'.repeat(43)}`])(
    'every operation on a key finds its account, and listed leases can be credited: key %#',
    async (key) => {
      const names = { ...NAMES, scope: `asked-${KEYS.length}-${key.length}` }
      const { quotas, limiter } = open(names.scope, 1_000)
      // a process that never reports
      const gone = open(names.scope, 1_000, { clock: new FakeClock(), leaseMs: 100 })
      expect((await gone.limiter.take(key, 3)).counted).toBe(true)
      expect(await quotas.topUp(key, 4, { token: 'one', ...names })).toBe(true)
      expect(await quotas.reserve(key, 2, { id: 'two', ...names })).toMatchObject({ units: 2 })
      expect(await quotas.post(key, 'two', names)).toBe('posted')
      expect(await quotas.refund(key, 1, { token: 'three', ...names })).toBe(true)
      await eventually(async () => (await quotas.balance(key, names)).onLease === 0, { what: 'the end of a lease' })
      const [listed] = await quotas.stranded({ key, ...names })
      const { stranded, used, topUpLeft } = await quotas.balance(key, names)
      expect([listed?.units, used, topUpLeft]).toEqual([stranded, 1, 4])
      expect(stranded).toBeGreaterThanOrEqual(3)
      const range = { from: Date.now() - 40 * 86_400_000, to: Date.now() + 86_400_000, by: 'month', ...names } as const
      expect(await quotas.usage(key, range)).toMatchObject([{ key: listed?.key, used: 1, stranded }])
      expect(await quotas.credit(listed as StrandedLease, names)).toBe(stranded)
      expect(await quotas.credit(listed as StrandedLease, names)).toBe(0)
      expect(await quotas.balance(key, names)).toMatchObject({ used: 1, stranded: 0 })
      limiter.close()
      await quotas.close()
    },
  )

  test('a key that looks like a hash is neither listed as a hash nor as another key', () => {
    const long = 'x'.repeat(600)
    const keys = [long, ...[0, 1, 2, 3].map((times) => '\\'.repeat(times) + storedKey(long))]
    const listed = keys.map((key) => listedKey(storedKey(key)))
    expect(new Set(listed).size).toBe(keys.length)
    expect(listed[0]).toBe(storedKey(long))
    expect(listed.map(storedListed)).toEqual(keys.map(storedKey))
    // as an operator may enter it
    expect(storedListed(long)).toBe(storedKey(long))
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

  test('10,000 keys at the same time are all counted', async () => {
    const { quotas, limiter } = open('crowd', 5, { waitMs: '60s' })
    const takes = Array.from({ length: 10_000 }, (_, key) => limiter.take(`key-${key}`))
    expect((await Promise.all(takes)).every(({ allowed, counted }) => allowed && counted)).toBe(true)
    await quotas.close()
    const { rows } = await postgres
      .pool()
      .query(`select sum(units)::int as units from sluice.quota_usage where name like 'crowd/%'`)
    expect(rows).toEqual([{ units: 10_000 }])
  })
})
