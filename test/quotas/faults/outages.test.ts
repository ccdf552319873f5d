import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { createLimiter } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createQuotas, quota } from '@sluice/quotas'
import { eventually } from '../../services/eventually.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  await postgresLedger(postgres.pool()).migrate()
})
afterAll(() => postgres.stop())

const WAIT_MS = 500
const KEYS = ['a', 'b', 'c']

/** Creates a process whose quota is checked on each take, or leased. */
function processOf(policy: string, limit: number, onBackendError: 'local' | 'allow' | 'deny') {
  const pool = postgres.pool({ max: 4, connectionTimeoutMillis: 500 })
  const lost: number[] = []
  const event = (name: string, data: Readonly<Record<string, unknown>>): void => {
    if (name === 'quota' && typeof data.lost === 'number') lost.push(data.lost)
  }
  const quotas = createQuotas(postgresLedger(pool), { waitMs: WAIT_MS, leaseMs: 1_000, observers: [{ event }] })
  const policies = [quota({ name: policy, limit, per: 'month', backend: quotas })]
  const limiter = createLimiter({ policies, scope: policy, deadlineMs: 50, onBackendError })
  const names = { policy, scope: policy }
  let allowed = 0
  const take = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const decisions = await Promise.all(KEYS.map((key) => limiter.take(key)))
      allowed += decisions.filter((decision) => decision.allowed).length
    }
  }
  const charged = async (): Promise<{ used: number; journal: number }> => {
    const balances = await Promise.all(KEYS.map((key) => quotas.balance(key, names)))
    const now = Date.now()
    const range = { from: now - 40 * 86_400_000, to: now + 86_400_000, by: 'month', ...names } as const
    const usage = (await Promise.all(KEYS.map((key) => quotas.usage(key, range)))).flat()
    const sum = (all: readonly { used: number; stranded: number }[]): number =>
      all.reduce((units, { used, stranded }) => units + used + stranded, 0)
    return { used: sum(balances), journal: sum(usage) }
  }
  return { quotas, take, charged, lost, allowed: () => allowed }
}

describe('a PostgreSQL outage', () => {
  test.each(['paused', 'killed'] as const)(
    'is followed by charges for everything that each error rule admitted, after it was %s',
    async (how) => {
      const all = (['allow', 'local', 'deny'] as const).flatMap((rule) => [
        processOf(`exact-${rule}-${how}`, 20, rule),
        processOf(`leased-${rule}-${how}`, 1_000, rule),
      ])
      await Promise.all(all.map(({ take }) => take(5)))
      if (how === 'paused') postgres.pause()
      else await postgres.kill()
      // long enough for running statements to time out
      const from = systemClock.now()
      while (systemClock.now() < from + 2 * WAIT_MS) await Promise.all(all.map(({ take }) => take(5)))
      if (how === 'paused') postgres.resume()
      else await postgres.start()
      await Promise.all(all.map(({ take }) => take(5)))
      await Promise.all(
        all.map(({ charged, allowed }) =>
          eventually(
            async () => {
              const found = await charged().catch(() => undefined)
              return found?.used === allowed() && found.journal === allowed()
            },
            { what: `${allowed()} units charged` },
          ),
        ),
      )
      // with the rule "allow", keys exceed their limit
      expect(all[0].allowed()).toBeGreaterThan(20 * KEYS.length)
      await Promise.all(all.map(({ quotas }) => quotas.close()))
      expect(all.flatMap(({ lost }) => lost)).toEqual([])
    },
  )

  test('does not keep a process from closing, and the lost units are reported', async () => {
    const { quotas, take, charged, lost } = processOf('closing', 20, 'allow')
    await take(1)
    // includes takes that a busy machine delayed
    await eventually(async () => (await charged()).used === KEYS.length, { what: 'all taken units to be charged' })
    postgres.pause()
    await take(2)
    const from = systemClock.now()
    await quotas.close()
    expect(systemClock.now() - from).toBeLessThan(2_500)
    expect(lost).toEqual([2 * KEYS.length])
    postgres.resume()
  })
})
