import type { CounterLedger } from '@sluice/counters'
import { memoryBackend } from '@sluice/limiter-core'
import type { Backend } from '@sluice/limiter-core/backend'
import { createQuotas } from '@sluice/quotas'
import { holdContract } from '@sluice/testkit'
import type { QuotaRunner } from '../quota-suite.ts'
import { DAY_MS, HOUR_MS, HoldFleet, MINUTE_MS, NOVEMBER } from './hold-fleet.ts'

/** Returns a backend whose counts are separate from those of other backends with the same ledger. */
function separate(backend: Backend, prefix: string): Backend {
  return new Proxy(backend, {
    get(target, name: keyof Backend) {
      if (name === 'open') {
        const open: Backend['open'] = (compiled, counter, isOverride) =>
          target.open(compiled, `${prefix}/${counter}`, isOverride)
        return open
      }
      const value: unknown = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** The suite of holds that every quota database must pass. `open` returns a database with an unused scope. */
export function holdSuite(
  { describe, expect, test }: QuotaRunner,
  open: () => Promise<{ readonly ledger: CounterLedger; readonly scope: string }>,
): void {
  const fleetAt = async (wallMs?: number): Promise<HoldFleet> => {
    const { ledger, scope } = await open()
    return new HoldFleet(ledger, scope, wallMs)
  }

  holdContract(
    { describe, test: (name, run) => test(name, async () => run()) },
    async (clock) => {
      const { ledger, scope } = await open()
      return separate(createQuotas(ledger, { clock, serverTime: () => clock.wall(), waitMs: '1h' }), scope)
    },
    { calendar: { per: 'day', timeZone: 'UTC' } },
  )

  describe('held units of a quota', () => {
    test('are pending in the ledger for every process, and neither leased nor charged', async () => {
      const all = await fleetAt()
      const [holder, other] = [all.join(), all.join()]
      const limiter = all.limiter(holder, { limit: 5_000 })
      const second = all.limiter(other, { limit: 5_000 })
      const hold = await limiter.hold('a', { reserve: 3_000 })
      const pending = { used: 0, onLease: 0, reserved: 0, held: 3_000, left: 2_000, available: 2_000 }
      expect(await other.balance('a', all.names)).toMatchObject(pending)
      expect((await second.hold('a', { reserve: 2_001 })).allowed).toBe(false)
      expect((await second.take('a', 2_000)).allowed).toBe(true)
      await hold.settle(1_000)
      expect(await other.balance('a', all.names)).toMatchObject({ used: 3_000, held: 0, left: 2_000 })
      await all.close()
    })

    test('return when the hold is over, at most an eighth of the longest hold later', async () => {
      const all = await fleetAt()
      const gone = all.limiter(all.join())
      await gone.hold('a', { reserve: 100, maxMs: '4m' })
      const limiter = all.limiter(all.join())
      const denied = await limiter.take('a', 1)
      expect(denied.allowed).toBe(false)
      expect(denied.retryAfterMs).toBeGreaterThan(4 * MINUTE_MS)
      expect(denied.retryAfterMs).toBeLessThanOrEqual(5 * MINUTE_MS)
      all.clock.stepWall(denied.retryAfterMs - 1)
      expect((await limiter.take('a', 1)).allowed).toBe(false)
      all.clock.stepWall(1)
      expect((await limiter.take('a', 100)).allowed).toBe(true)
      await all.close()
    })

    test('report when more is left: when a hold is over, unless the key is in debt until the next period', async () => {
      const all = await fleetAt()
      const limiter = all.limiter(all.join())
      const hold = await limiter.hold('a', { reserve: 60 })
      await limiter.hold('a', { reserve: 40, maxMs: '2m' })
      const monthMs = NOVEMBER + 30 * DAY_MS - all.clock.wall()
      const { availableAfterMs, resetAfterMs } = (await limiter.peek('a')).binding
      expect([availableAfterMs, resetAfterMs]).toEqual([3 * MINUTE_MS, monthMs])
      expect((await hold.settle(130)).binding.availableAfterMs).toBe(monthMs)
      await all.close()
    })

    test('stay held in the next period, where the settlement is spent', async () => {
      const all = await fleetAt(NOVEMBER + 30 * DAY_MS - MINUTE_MS)
      const quotas = all.join()
      const limiter = all.limiter(quotas, { carryOver: 30 })
      await limiter.take('a', 20)
      const hold = await limiter.hold('a', { reserve: 60 })
      all.clock.stepWall(2 * MINUTE_MS)
      const next = { period: '2026-12-01', carried: 30, used: 0, held: 60, left: 70, available: 70 }
      expect(await quotas.balance('a', all.names)).toMatchObject(next)
      await hold.settle(50)
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 50, held: 0, left: 80 })
      const months = { from: NOVEMBER, to: NOVEMBER + 61 * DAY_MS, by: 'month', ...all.names } as const
      const usage = await quotas.usage('a', months)
      expect(usage.map(({ used }) => used)).toEqual([20, 50])
      await all.close()
    })

    test('are settled in the hour of the settlement, beyond the hold and the limit', async () => {
      const all = await fleetAt()
      const quotas = all.join()
      const limiter = all.limiter(quotas, { maxHoldMs: '2h' })
      const hold = await limiter.hold('a', { reserve: 60 })
      all.clock.stepWall(HOUR_MS)
      expect((await hold.settle(130)).binding.remaining).toBe(0)
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 130, held: 0, left: -30 })
      const day = { from: NOVEMBER, to: NOVEMBER + 3 * DAY_MS, by: 'hour', ...all.names } as const
      const usage = await quotas.usage('a', day)
      expect(usage.map(({ from, used }) => [from, used])).toEqual([[NOVEMBER + DAY_MS + HOUR_MS, 130]])
      await all.close()
    })

    test('use top-ups after the included units, and leave them if they return', async () => {
      const all = await fleetAt()
      const quotas = all.join()
      const limiter = all.limiter(quotas)
      await quotas.topUp('a', 50, { token: 'invoice', ...all.names })
      const hold = await limiter.hold('a', { reserve: 120 })
      expect([hold.allowed, hold.decision.binding.fund]).toEqual([true, 'top-up'])
      expect(await quotas.balance('a', all.names)).toMatchObject({ toppedUp: 0, topUpLeft: 50, held: 120, left: 30 })
      await hold.settle(110)
      expect(await quotas.balance('a', all.names)).toMatchObject({ toppedUp: 10, topUpLeft: 40, left: 40 })
      await (await limiter.hold('a', { reserve: 40 })).release()
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 110, topUpLeft: 40, held: 0, left: 40 })
      await all.close()
    })

    test('share the account of the same quota without holds, and of reservations', async () => {
      const all = await fleetAt()
      const [quotas, other] = [all.join(), all.join()]
      const limiter = all.limiter(quotas)
      const plain = all.limiter(other, { maxHoldMs: undefined })
      const hold = await limiter.hold('a', { reserve: 70 })
      expect((await plain.take('a', 31)).allowed).toBe(false)
      expect((await plain.take('a', 10)).allowed).toBe(true)
      expect(await quotas.reserve('a', 21, all.names)).toBeUndefined()
      await hold.release()
      expect(await quotas.reserve('a', 21, all.names)).toBeDefined()
      await all.close()
    })

    test('are held beside a limit in memory, or neither', async () => {
      const all = await fleetAt()
      const { clock } = all
      const quotas = all.join()
      const memory = {
        name: 'minute',
        limit: 50,
        window: HOUR_MS,
        maxHoldMs: 8 * MINUTE_MS,
        backend: memoryBackend({ clock }),
      }
      const limiter = all.limiter(quotas, {}, [memory])
      const left = async (): Promise<readonly number[]> =>
        (await limiter.peek('a')).verdicts.map(({ remaining }) => remaining)
      expect((await limiter.hold('a', { reserve: { tokens: 40, minute: 51 } })).allowed).toBe(false)
      expect((await limiter.hold('a', { reserve: { tokens: 101, minute: 1 } })).allowed).toBe(false)
      expect(await left()).toEqual([100, 50])
      const hold = await limiter.hold('a', { reserve: { tokens: 40, minute: 40 } })
      expect(await hold.extend({ tokens: 10, minute: 11 })).toBe(false)
      expect(await hold.extend({ tokens: 61, minute: 1 })).toBe(false)
      expect(await left()).toEqual([60, 10])
      expect(await hold.extend({ tokens: 10, minute: 10 })).toBe(true)
      expect(await left()).toEqual([50, 0])
      await hold.settle({ tokens: 30, minute: 20 })
      expect(await left()).toEqual([70, 30])
      await all.close()
    })

    test('return with a reset of the key', async () => {
      const all = await fleetAt()
      const quotas = all.join()
      const limiter = all.limiter(quotas)
      await limiter.take('a', 10)
      await limiter.hold('a', { reserve: 60 })
      await limiter.reset('a')
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 0, held: 0, left: 100 })
      await all.close()
    })
  })
}
