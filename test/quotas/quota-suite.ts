import type * as jest from '@jest/globals'
import type { CounterLedger } from '@sluice/counters'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, type QuotasOptions, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

/** Midnight of 2026-11-01 in UTC, when a month begins. */
const NOVEMBER = Date.UTC(2026, 10, 1)
const DAY_MS = 86_400_000

/** Processes with one database and one clock. */
class QuotaFleet {
  readonly clock = new FakeClock({ wallMs: NOVEMBER + DAY_MS })
  readonly quotas: Quotas[] = []
  readonly #ledger: CounterLedger
  readonly #scope: string

  constructor(ledger: CounterLedger, scope: string) {
    this.#ledger = ledger
    this.#scope = scope
  }

  /** Creates another process. */
  join(options: QuotasOptions = {}): Quotas {
    const { clock } = this
    // the clock advances in steps during which no call can be answered
    const made = createQuotas(this.#ledger, { clock, serverTime: () => clock.wall(), waitMs: '1h', ...options })
    this.quotas.push(made)
    return made
  }

  /** Creates a limiter of a process. */
  limiter(backend: Quotas, input: Partial<Parameters<typeof quota>[0]> = {}): Limiter {
    const { clock } = this
    const policy = quota({ name: 'calls', limit: 1_000, per: 'month', backend, ...input })
    return createLimiter({ policies: [policy], scope: this.#scope, clock, deadlineMs: 60_000 })
  }

  get names(): { readonly policy: string; readonly scope: string } {
    return { policy: 'calls', scope: this.#scope }
  }

  /** Advances the clock in steps, so that timers and database calls can proceed in between. */
  async advance(ms: number, steps = 4): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.clock.advance(ms / steps)
      for (let turn = 0; turn < 4; turn++) await settled(this.quotas)
    }
  }

  /** Moves the wall clock as if there had been no traffic for days. All leases are returned first. */
  async jump(ms: number): Promise<void> {
    await this.advance(30_000, 10)
    this.clock.stepWall(ms - 30_000)
  }
}

/** Waits until all database calls are answered. */
async function settled(all: readonly Quotas[]): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all(all.map((quotas) => quotas.idle()))
}

async function takeMany(limiter: Limiter, key: string, count: number): Promise<number> {
  let allowed = 0
  for (let taken = 0; taken < count; taken++) if ((await limiter.take(key)).allowed) allowed++
  return allowed
}

/** The test runner: jest, or a child process for code that jest cannot load. */
export type QuotaRunner = Pick<typeof jest, 'expect'> & {
  readonly describe: (name: string, define: () => void) => void
  readonly test: (name: string, run: () => Promise<void>) => void
}

/** The suite that every quota database must pass. `fleet` opens a new database, or a database with unused scopes. */
export function quotaSuite(
  { describe, expect, test }: QuotaRunner,
  open: () => Promise<{ readonly ledger: CounterLedger; readonly scope: string }>,
): void {
  const fleet = async (): Promise<QuotaFleet> => {
    const { ledger, scope } = await open()
    return new QuotaFleet(ledger, scope)
  }

  describe('one process', () => {
    test('takes its limit in a period, and again in the next', async () => {
      const all = await fleet()
      const quotas = all.join()
      const limiter = all.limiter(quotas)
      expect(await takeMany(limiter, 'a', 1_005)).toBe(1_000)
      const denied = await limiter.take('a')
      // exactly until the first of December
      expect(denied.retryAfterMs).toBe(Date.UTC(2026, 11, 1) - all.clock.wall())
      await all.jump(denied.retryAfterMs - 1)
      expect((await limiter.take('a')).allowed).toBe(false)
      await all.advance(1)
      expect((await limiter.take('a')).allowed).toBe(true)
      await quotas.close()
    })

    test('reports what it spent, and returns its unused lease', async () => {
      const all = await fleet()
      const quotas = all.join()
      const limiter = all.limiter(quotas)
      await takeMany(limiter, 'a', 300)
      await all.advance(30_000)
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 300, stranded: 0, onLease: 0, left: 700 })
      await quotas.close()
    })

    test('charges a quota too small for leases immediately', async () => {
      const all = await fleet()
      const quotas = all.join()
      const limiter = all.limiter(quotas, { limit: 10 })
      expect(await takeMany(limiter, 'a', 12)).toBe(10)
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 10, left: 0 })
      await quotas.close()
    })
  })

  describe('several processes', () => {
    test('never take more than the limit together, and hold no leases after they close', async () => {
      const all = await fleet()
      const processes = [all.join(), all.join(), all.join()]
      const limiters = processes.map((one) => all.limiter(one))
      const counts = await Promise.all(limiters.map((limiter) => takeMany(limiter, 'a', 500)))
      expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1_000)
      const reader = all.join()
      all.limiter(reader)
      for (const one of processes) await one.close()
      const balance = await reader.balance('a', all.names)
      expect(balance).toMatchObject({ used: counts.reduce((sum, count) => sum + count, 0), onLease: 0, stranded: 0 })
      await reader.close()
    })

    test('charge the lease of a crashed process, list it, and credit it once', async () => {
      const all = await fleet()
      const [gone, other] = [all.join({ clock: new FakeClock() }), all.join()]
      await takeMany(all.limiter(gone), 'a', 20)
      const limiter = all.limiter(other)
      const held = (await other.balance('a', all.names)).onLease
      expect(held).toBeGreaterThan(0)
      // its clock is not advanced, so it never reports
      await all.advance(60_000)
      await limiter.take('a')
      const after = await other.balance('a', all.names)
      expect(after.used + after.stranded + after.onLease + after.left).toBe(1_000)
      const [stranded] = await other.stranded(all.names)
      expect(stranded).toMatchObject({ key: 'a', units: after.stranded })
      expect(await other.credit(stranded, all.names)).toBe(stranded.units)
      expect(await other.credit(stranded, all.names)).toBe(0)
      expect(await other.stranded(all.names)).toEqual([])
      expect((await other.balance('a', all.names)).stranded).toBe(0)
      await other.close()
    })
  })

  describe('additional units', () => {
    test('a top-up is spent after the included units and counts once per token, and a denial reports the exhausted fund', async () => {
      const all = await fleet()
      const quotas = all.join()
      const limiter = all.limiter(quotas, { limit: 10 })
      await takeMany(limiter, 'a', 10)
      const before = await limiter.take('a')
      expect(before.binding.fund).toBe('included')
      expect(await quotas.topUp('a', 5, { token: 'invoice-1', ...all.names })).toBe(true)
      expect(await quotas.topUp('a', 5, { token: 'invoice-1', ...all.names })).toBe(false)
      const topped = await limiter.take('a')
      expect([topped.allowed, topped.binding.fund]).toEqual([true, 'top-up'])
      expect(await takeMany(limiter, 'a', 10)).toBe(4)
      expect((await limiter.take('a')).binding.fund).toBe('top-up')
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 15, toppedUp: 5, topUpLeft: 0, left: 0 })
      expect(await quotas.refund('a', 3, { token: 'refund-1', ...all.names })).toBe(true)
      expect(await quotas.refund('a', 3, { token: 'refund-1', ...all.names })).toBe(false)
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 12, toppedUp: 2, topUpLeft: 3, left: 3 })
      await quotas.close()
    })

    test('unused units are carried over, up to a maximum', async () => {
      const all = await fleet()
      const quotas = all.join()
      const limiter = all.limiter(quotas, { limit: 50, carryOver: 20 })
      await takeMany(limiter, 'a', 40)
      await takeMany(limiter, 'b', 10)
      await all.jump(30 * DAY_MS)
      expect(await takeMany(limiter, 'a', 100)).toBe(60)
      expect(await takeMany(limiter, 'b', 100)).toBe(70)
      expect(await takeMany(limiter, 'c', 100)).toBe(50)
      await quotas.close()
    })
  })

  describe('reservations', () => {
    test('hold units until they are posted, voided or expire, and each settles once', async () => {
      const all = await fleet()
      const quotas = all.join()
      const limiter = all.limiter(quotas, { limit: 50 })
      const first = await quotas.reserve('a', 30, { id: 'one', ...all.names })
      expect(await quotas.reserve('a', 30, { id: 'one', ...all.names })).toEqual(first)
      expect(await quotas.reserve('a', 30, { id: 'two', ...all.names })).toBeUndefined()
      expect(await takeMany(limiter, 'a', 25)).toBe(20)
      expect(await quotas.post('a', 'one', { units: 12, ...all.names })).toBe('posted')
      expect(await quotas.void('a', 'one', all.names)).toBe('posted')
      expect(await quotas.balance('a', all.names)).toMatchObject({ used: 32, reserved: 0, left: 18 })
      await quotas.reserve('a', 10, { id: 'three', ...all.names })
      expect(await quotas.void('a', 'three', all.names)).toBe('voided')
      await quotas.reserve('a', 10, { id: 'four', ttlMs: '10s', ...all.names })
      await all.advance(10_000)
      expect(await quotas.balance('a', all.names)).toMatchObject({ reserved: 0, left: 18 })
      expect(await quotas.post('a', 'four', all.names)).toBe('expired')
      await expect(quotas.post('a', 'none', all.names)).rejects.toMatchObject({ code: 'SLUICE_NO_RESERVATION' })
      await quotas.close()
    })
  })

  describe('reports', () => {
    test('usage by day and month, and CSV without formula injection', async () => {
      const all = await fleet()
      const quotas = all.join()
      const limiter = all.limiter(quotas, { limit: 50 })
      await takeMany(limiter, '=1+1', 3)
      await all.jump(DAY_MS)
      await takeMany(limiter, '=1+1', 2)
      await takeMany(limiter, 'b', 1)
      const range = { from: NOVEMBER, to: NOVEMBER + 30 * DAY_MS, ...all.names }
      expect(await quotas.usage('=1+1', range)).toEqual([
        { key: '=1+1', from: NOVEMBER + DAY_MS, until: NOVEMBER + 2 * DAY_MS, used: 3, stranded: 0, toppedUp: 0 },
        { key: '=1+1', from: NOVEMBER + 2 * DAY_MS, until: NOVEMBER + 3 * DAY_MS, used: 2, stranded: 0, toppedUp: 0 },
      ])
      const months = await quotas.usage('=1+1', { ...range, by: 'month' })
      expect(months).toMatchObject([{ from: NOVEMBER, until: NOVEMBER + 30 * DAY_MS, used: 5 }])
      let csv = ''
      for await (const part of quotas.csv({ ...range, by: 'month' })) csv += part
      expect(csv.split('\r\n')).toEqual([
        'key,from,until,used,stranded,toppedUp',
        "'=1+1,2026-11-01T00:00:00.000Z,2026-12-01T00:00:00.000Z,5,0,0",
        'b,2026-11-01T00:00:00.000Z,2026-12-01T00:00:00.000Z,1,0,0',
        '',
      ])
      await quotas.close()
    })

    test('a forecast extends the pace of the period, and ends with the period', async () => {
      const all = await fleet()
      const quotas = all.join()
      const limiter = all.limiter(quotas, { limit: 50 })
      const end = Date.UTC(2026, 11, 1)
      const unknown = { exhaustedAt: undefined, earliest: undefined, latest: undefined }
      expect(await quotas.forecast('a', all.names)).toEqual({
        period: '2026-11-01',
        endsAt: end,
        left: 50,
        perHour: 0,
        ...unknown,
      })
      for (let hour = 0; hour < 10; hour++) {
        await takeMany(limiter, 'a', 2)
        await all.jump(DAY_MS / 24)
      }
      const now = all.clock.wall()
      const soon = await quotas.forecast('a', all.names)
      expect(soon).toMatchObject({ left: 30, perHour: 2, exhaustedAt: now + (15 * DAY_MS) / 24 })
      expect(soon.earliest).toBeGreaterThan(now)
      expect(soon.earliest).toBeLessThan(soon.exhaustedAt ?? 0)
      expect(soon.latest).toBeGreaterThan(soon.exhaustedAt ?? 0)
      expect(await quotas.refund('a', 18, { token: 'ticket', ...all.names })).toBe(true)
      // 2 units are used, so 48 last until the end of the month
      await all.jump(25 * DAY_MS)
      expect(await quotas.forecast('a', all.names)).toMatchObject({ left: 48, exhaustedAt: undefined })
      expect(await takeMany(limiter, 'a', 50)).toBe(48)
      const spent = all.clock.wall()
      const times = { exhaustedAt: spent, earliest: spent, latest: spent }
      expect(await quotas.forecast('a', all.names)).toMatchObject({ left: 0, ...times })
      await expect(quotas.forecast('a', { policy: 'other' })).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
      await quotas.close()
    })

    test('a notice at 80 and 100 percent is sent once for each, and repeated until it is acknowledged', async () => {
      const all = await fleet()
      const notices: { readonly id: string; readonly threshold: number }[] = []
      let fails = true
      const quotas = all.join({
        onUsed: (notice) => {
          notices.push(notice)
          if (fails) throw new Error('no mail today')
        },
      })
      const limiter = all.limiter(quotas, { limit: 50 })
      await takeMany(limiter, 'a', 39)
      expect(notices).toEqual([])
      await takeMany(limiter, 'a', 1)
      expect(notices).toMatchObject([{ threshold: 80, used: 40, included: 50, policy: 'calls', key: 'a' }])
      fails = false
      await all.advance(120_000)
      expect(notices.map(({ threshold }) => threshold)).toEqual([80, 80])
      expect(new Set(notices.map(({ id }) => id)).size).toBe(1)
      await takeMany(limiter, 'a', 20)
      await all.advance(120_000)
      expect(notices.map(({ threshold }) => threshold)).toEqual([80, 80, 100])
      await quotas.close()
    })

    test('notices are sent at the chosen shares, also if one charge reaches several of them', async () => {
      const all = await fleet()
      const notices: (readonly [number, number])[] = []
      const quotas = all.join({
        notices: [1, 0.29, 0.5],
        onUsed: ({ threshold, used }) => void notices.push([threshold, used]),
      })
      const limiter = all.limiter(quotas, { limit: 50 })
      await takeMany(limiter, 'a', 14)
      expect(notices).toEqual([])
      await takeMany(limiter, 'a', 1)
      expect(notices).toEqual([[29, 15]])
      await limiter.take('a', 35)
      await all.advance(120_000)
      expect(notices).toEqual([
        [29, 15],
        [50, 50],
        [100, 50],
      ])
      await quotas.close()
    })
  })
}
