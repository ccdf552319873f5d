import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, type QuotaBalance, type Quotas, quota } from '@sluice/quotas'
import { eventually } from '../../services/eventually.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { startProxy, type TcpProxy } from '../../services/proxies/tcp-proxy.ts'

const PROCESSES = 3
const LEASE_MS = 1_000
const FRACTION = 0.1
const SCOPE = 'failover'
/** Every process takes from each of these quotas: leased, checked on each take, and leased until it is used up. */
const LIMITS = { leased: 100_000, exact: 70, scarce: 1_000 } as const
type Policy = keyof typeof LIMITS
const POLICIES = Object.keys(LIMITS) as Policy[]
const TOP_UP = { policy: 'exact', scope: SCOPE, token: 'invoice' } as const
const REFUND = { policy: 'leased', scope: SCOPE, token: 'ticket' } as const

let primary: PostgresServer
let replica: PostgresServer
/** Proxies from the replica to the primary, and from the processes to the database. */
let followed: TcpProxy
let database: TcpProxy

beforeAll(async () => {
  primary = await startPostgres()
  await postgresLedger(primary.pool()).migrate()
  followed = await startProxy(primary.port)
  database = await startProxy(primary.port)
  replica = await startPostgres({ replicaOf: followed })
})
afterAll(async () => {
  await Promise.all([replica, primary, followed, database].map((one) => one?.stop()))
})

/** A process that spends from each quota. */
class Spender {
  readonly quotas: Quotas
  readonly allowed: Record<Policy, number> = { leased: 0, exact: 0, scarce: 0 }
  readonly #limiters

  constructor() {
    const pool = primary.pool({ port: database.port, max: 4, connectionTimeoutMillis: 500, query_timeout: 1_000 })
    this.quotas = createQuotas(postgresLedger(pool), { leaseMs: LEASE_MS, fraction: FRACTION, waitMs: '1s' })
    this.#limiters = POLICIES.map((name) => {
      const policies = [quota({ name, limit: LIMITS[name], per: 'month', backend: this.quotas })]
      return [name, createLimiter({ policies, scope: SCOPE, deadlineMs: 1_000, onBackendError: 'deny' })] as const
    })
  }

  /** Takes from the quotas in `costs` the given number of times. `costs`: units per take. */
  async spend(times: number, costs: Partial<Record<Policy, number>>): Promise<void> {
    for (let i = 0; i < times; i++) {
      await Promise.all(this.#limiters.map(([name, limiter]) => this.#take(name, limiter, costs[name])))
    }
  }

  async #take(name: Policy, limiter: ReturnType<typeof createLimiter>, cost: number | undefined): Promise<void> {
    if (cost !== undefined && (await limiter.take('key', cost)).allowed) this.allowed[name] += cost
  }

  balance(policy: Policy): Promise<QuotaBalance> {
    return this.quotas.balance('key', { policy, scope: SCOPE })
  }

  async billed(policy: Policy): Promise<number> {
    const now = Date.now()
    const range = { from: now - 40 * 86_400_000, to: now + 86_400_000, by: 'month' } as const
    const spans = await this.quotas.usage('key', { ...range, policy, scope: SCOPE })
    return spans.reduce((units, { used, stranded }) => units + used + stranded, 0)
  }
}

async function replicated(): Promise<void> {
  const [ahead, behind] = [primary.pool(), replica.pool()]
  await eventually(
    async () => {
      const [{ lsn }] = (await ahead.query('select pg_current_wal_lsn() as lsn')).rows
      const { rows } = await behind.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as done', [lsn])
      return rows[0].done
    },
    { what: 'a replica that has caught up' },
  )
}

/** Destroys the primary, with everything that the replica does not have, while the processes continue. */
async function failOver(spenders: readonly Spender[]): Promise<void> {
  const spending = spenders.map((one) => one.spend(100, { leased: 5 }))
  await primary.kill()
  database.retarget(replica.port)
  database.cut('reset')
  await replica.promote()
  await Promise.all(spending)
}

async function chargedBy(server: PostgresServer): Promise<number> {
  const { rows } = await server.pool().query('select coalesce(sum(units), 0)::int as units from sluice.quota_usage')
  return rows[0].units
}

describe('a failover to a PostgreSQL replica that was behind', () => {
  test('keeps every unit that live processes know of, and no token counts twice', async () => {
    const spenders = Array.from({ length: PROCESSES }, () => new Spender())
    const all = (times: number, costs: Partial<Record<Policy, number>>) =>
      Promise.all(spenders.map((one) => one.spend(times, costs)))
    const [first, second] = spenders as [Spender, Spender]
    await all(5, { leased: 7, exact: 1, scarce: 10 })
    await replicated()
    followed.blackHole()
    await all(5, { leased: 11, exact: 1, scarce: 10 })
    expect(await first.quotas.topUp('key', 50, TOP_UP)).toBe(true)
    expect(await second.quotas.refund('key', 7, REFUND)).toBe(true)
    // until the quota is used up
    await all(100, { leased: 3, exact: 1, scarce: 10 })
    expect(spenders.reduce((sum, { allowed }) => sum + allowed.exact, 0)).toBe(LIMITS.exact + 50)
    const [lost, kept] = [await chargedBy(primary), await chargedBy(replica)]
    expect(kept).toBeLessThan(lost / 2)
    await failOver(spenders)
    const again = await Promise.all([
      ...spenders.map(({ quotas }) => quotas.topUp('key', 50, TOP_UP)),
      ...spenders.map(({ quotas }) => quotas.refund('key', 7, REFUND)),
    ])
    // the replica has the top-up, but not the refund
    expect(again.filter((counts) => counts).length).toBe(1)
    await all(100, { leased: 3, exact: 1, scarce: 10 })
    for (const policy of POLICIES) await check(spenders, policy)
    await Promise.all(spenders.map(({ quotas }) => quotas.close()))
  })
})

async function check(spenders: readonly Spender[], policy: Policy): Promise<void> {
  const [reader] = spenders as [Spender]
  const allowed = spenders.reduce((sum, one) => sum + one.allowed[policy], 0)
  const refunded = policy === REFUND.policy ? 7 : 0
  const bought = policy === TOP_UP.policy ? 50 : 0
  let balance = await reader.balance(policy)
  await eventually(
    async () => {
      balance = await reader.balance(policy)
      return balance.onLease === 0
    },
    { what: `the end of all leases of ${policy}` },
  )
  const { used, stranded, toppedUp, topUpLeft, included, left } = balance
  expect([policy, used, stranded]).toEqual([policy, allowed - refunded, 0])
  expect([policy, await reader.billed(policy)]).toEqual([policy, used])
  expect([policy, toppedUp + topUpLeft]).toEqual([policy, bought])
  expect(used + left).toBe(included + bought)
  const mostBelow = policy === 'exact' ? 0 : PROCESSES * LIMITS[policy] * FRACTION
  expect(left).toBeGreaterThanOrEqual(-mostBelow)
}
