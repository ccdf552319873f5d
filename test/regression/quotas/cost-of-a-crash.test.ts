import { describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, type QuotaBalance, quota } from '@sluice/quotas'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { FaultyQuotaTable, type QuotaIntrusion, quotasOnly } from '../../quotas/faults/faulty-quota-table.ts'

const NAMES = { policy: 'calls', scope: 'crashes' } as const
const NOON = Date.UTC(2026, 10, 2, 12)
const KEY = 'acme'
const CRASHES = 5
/** Largest part of a limit that one crash may cost. */
const LARGEST_PART = 0.02

interface Outcome {
  readonly allowed: number
  readonly balance: QuotaBalance
}

/** Runs processes that end without `close`, one after the other, and returns the account after all leases have ended. */
async function crashing(limit: number, takes: readonly number[], lanes: number): Promise<Outcome> {
  const server = new FakeClock({ wallMs: NOON })
  const ledger = new MemoryLedger(server)
  const start = (clock: FakeClock) => {
    const quotas = createQuotas(ledger, { clock, serverTime: () => server.wall() })
    const policies = [quota({ name: 'calls', limit, per: 'day', backend: quotas })]
    return { quotas, limiter: createLimiter({ policies, scope: NAMES.scope, clock, deadlineMs: 60_000 }) }
  }
  let allowed = 0
  for (const count of takes) {
    // its own clock stands still afterwards, so that it never reports again
    const { limiter } = start(new FakeClock())
    let left = count
    const lane = async (): Promise<void> => {
      while (left-- > 0) if ((await limiter.take(KEY)).allowed) allowed++
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    server.advance(1_000)
  }
  server.advance(60_000)
  const { quotas } = start(server)
  const balance = await quotas.balance(KEY, NAMES)
  await quotas.close()
  return { allowed, balance }
}

describe('a process that crashes', () => {
  test.each([80, 100, 1_000, 3_000, 100_000])('costs at most 2 percent of a daily quota of %i', async (limit) => {
    await eachSeed(5, async (random: SeededRandom) => {
      const takes = Array.from({ length: CRASHES }, () => 1 + random.whole(limit / CRASHES - 1))
      const { allowed, balance } = await crashing(limit, takes, 1 + random.whole(8))
      expect(allowed).toBe(takes.reduce((sum, count) => sum + count, 0))
      const unused = balance.used + balance.stranded - allowed
      expect(unused).toBeGreaterThanOrEqual(0)
      expect(unused).toBeLessThanOrEqual(CRASHES * Math.max(1, limit * LARGEST_PART))
    })
  })

  test('never lets the processes after it exceed the limit', async () => {
    await eachSeed(5, async (random: SeededRandom) => {
      const takes = Array.from({ length: CRASHES }, () => 200 + random.whole(600))
      const { allowed, balance } = await crashing(1_000, takes, 1 + random.whole(30))
      expect(allowed).toBeLessThanOrEqual(1_000)
      expect(balance.used + balance.stranded).toBeGreaterThanOrEqual(allowed)
      expect(balance.used + balance.stranded).toBeLessThanOrEqual(1_000)
    })
  })
  test.each([1, 5, 20])('costs at most 2 percent after %i large requests were refunded', async (requests) => {
    const { quotas, limiter, balance } = process(3_000)
    const cost = 2_000 / requests
    const taken = await Promise.all(Array.from({ length: requests }, () => limiter.take(KEY, cost)))
    for (const decision of taken) await limiter.charge(KEY, 10 - cost, decision)
    expect(await balance()).toBeLessThanOrEqual(10 * requests + 60)
    await quotas.close()
  })

  test('costs at most 2 percent after large requests stopped waiting for their units', async () => {
    const clock = new FakeClock({ wallMs: NOON })
    let arrive: (() => void) | undefined
    const { quotas, limiter, balance } = process(3_000, clock, {
      before: (call) => {
        if (call !== 'commit' || arrive) return undefined
        return new Promise((resolve) => {
          arrive = resolve
        })
      },
    })
    const taken = Array.from({ length: 10 }, () => limiter.take(KEY, 200))
    await turns()
    clock.advance(200)
    expect((await Promise.all(taken)).map(({ allowed }) => allowed)).not.toContain(true)
    arrive?.()
    expect(await balance()).toBeLessThanOrEqual(60)
    await quotas.close()
  })
})

/** Creates a process and a function that returns the units which a crash of the process would cost now. */
function process(limit: number, clock = new FakeClock({ wallMs: NOON }), intrusion: QuotaIntrusion = {}) {
  const table = new MemoryQuotaTable(() => clock.wall())
  const start = (faults: QuotaIntrusion) => {
    const quotas = createQuotas(quotasOnly(new FaultyQuotaTable(table, faults)), { clock })
    const policies = [quota({ name: NAMES.policy, limit, per: 'day', backend: quotas })]
    return { quotas, limiter: createLimiter({ policies, scope: NAMES.scope, clock, onBackendError: 'deny' }) }
  }
  const { quotas: reader } = start({})
  const balance = async (): Promise<number> => {
    await turns()
    const { used, onLease } = await reader.balance(KEY, NAMES)
    return used + onLease
  }
  return { ...start(intrusion), balance }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => afterThisTurn(() => resolve(undefined)))
}
