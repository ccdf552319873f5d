import { describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, type QuotaBalance, quota } from '@sluice/quotas'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'

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
    return { quotas, limiter: createLimiter({ policies, scope: 'crashes', clock, deadlineMs: 60_000 }) }
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
  const balance = await quotas.balance(KEY, { policy: 'calls', scope: 'crashes' })
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
})
