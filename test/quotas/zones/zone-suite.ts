import type { CounterLedger } from '@sluice/counters'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, type QuotasOptions, quota, waterfall } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import type { QuotaRunner } from '../quota-suite.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Noon of Tuesday 2026-11-10 in UTC: 13:00 in Berlin, 07:00 in New York, 21:00 in Tokyo. */
const NOON = Date.UTC(2026, 10, 10, 12)

/** A process whose keys have zones of their own, which change. */
class ZonedQuotas {
  readonly clock = new FakeClock({ wallMs: NOON })
  readonly zones = new Map<string, unknown>()
  /** Events of observers. */
  readonly events: (readonly [string, unknown])[] = []
  readonly quotas: Quotas
  readonly scope: string

  constructor(ledger: CounterLedger, scope: string, options: QuotasOptions = {}) {
    const { clock } = this
    this.scope = scope
    this.quotas = createQuotas(ledger, {
      clock,
      serverTime: () => clock.wall(),
      waitMs: '1h',
      observers: [{ event: (name, detail) => void this.events.push([name, detail]) }],
      ...options,
    })
  }

  readonly zoneOf = (key: string): string | undefined => {
    const zone = this.zones.get(key)
    if (zone instanceof Error) throw zone
    if (typeof zone === 'function') return zone()
    return zone as string | undefined
  }

  limiter(input: Partial<Parameters<typeof quota>[0]> = {}): Limiter {
    const { clock, quotas, scope, zoneOf } = this
    const policy = quota({ name: 'calls', limit: 10, per: 'day', timeZone: zoneOf, backend: quotas, ...input })
    return createLimiter({ policies: [policy], scope, clock, deadlineMs: 60_000 })
  }

  get names(): { readonly policy: string; readonly scope: string } {
    return { policy: 'calls', scope: this.scope }
  }

  /** Returns the hours until the period of a key ends. */
  async hoursLeft(key: string): Promise<number> {
    const { endsAt } = await this.quotas.balance(key, this.names)
    return (endsAt - this.clock.wall()) / HOUR_MS
  }

  /** Moves the wall clock as if there had been no traffic. All leases are returned first. */
  async jump(ms: number): Promise<void> {
    for (let step = 0; step < 10; step++) {
      this.clock.advance(3_000)
      for (let turn = 0; turn < 4; turn++) {
        await new Promise((resolve) => setImmediate(resolve))
        await this.quotas.idle()
      }
    }
    this.clock.stepWall(ms - 30_000)
  }
}

/** The claims about zones of keys that every quota database must meet. */
export function zoneSuite(
  { describe, expect, test }: QuotaRunner,
  open: () => Promise<{ readonly ledger: CounterLedger; readonly scope: string }>,
): void {
  const zoned = async (options?: QuotasOptions): Promise<ZonedQuotas> => {
    const { ledger, scope } = await open()
    return new ZonedQuotas(ledger, scope, options)
  }

  describe('a quota with a zone for each key', () => {
    test('begins the day of each key at its local time', async () => {
      const all = await zoned()
      const limiter = all.limiter({ resetAt: '06:00' })
      all.zones.set('berlin', 'Europe/Berlin').set('tokyo', 'Asia/Tokyo')
      for (const [key, hours] of [
        ['berlin', 17],
        ['tokyo', 9],
        ['unknown', 18],
      ] as const) {
        expect((await limiter.take(key, 10)).allowed).toBe(true)
        expect(await limiter.take(key)).toMatchObject({ allowed: false, retryAfterMs: hours * HOUR_MS })
      }
      await all.jump(9 * HOUR_MS)
      expect((await limiter.take('tokyo', 10)).allowed).toBe(true)
      expect((await limiter.take('berlin')).allowed).toBe(false)
      await all.quotas.close()
    })

    test('gives no second day if the zone changes: the day keeps its end, and the next one ends in the new zone', async () => {
      const all = await zoned()
      const limiter = all.limiter()
      all.zones.set('a', 'Europe/Berlin')
      await limiter.take('a', 10)
      for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Tokyo', 'America/New_York']) {
        all.zones.set('a', zone)
        expect(await limiter.take('a')).toMatchObject({ allowed: false, retryAfterMs: 11 * HOUR_MS })
      }
      await all.jump(11 * HOUR_MS)
      expect((await limiter.take('a', 10)).allowed).toBe(true)
      // from midnight in Berlin, 18:00 in New York, to the midnight after the next in New York
      expect(await limiter.take('a')).toMatchObject({ allowed: false, retryAfterMs: 30 * HOUR_MS })
      expect(await all.quotas.balance('a', all.names)).toMatchObject({ period: '2026-11-11', used: 10 })
      await all.jump(30 * HOUR_MS)
      expect(await all.hoursLeft('a')).toBe(24)
      await all.quotas.close()
    })

    test('charges leases to the day in which they began, and ends them with it', async () => {
      const all = await zoned()
      const limiter = all.limiter({ limit: 1_000 })
      all.zones.set('a', 'Europe/Berlin')
      for (let taken = 0; taken < 300; taken++) await limiter.take('a')
      all.zones.set('a', 'Asia/Tokyo')
      await all.jump(HOUR_MS)
      const before = await all.quotas.balance('a', all.names)
      expect(before).toMatchObject({ period: '2026-11-10', used: 300, stranded: 0, onLease: 0, left: 700 })
      await all.jump(10 * HOUR_MS)
      for (let taken = 0; taken < 300; taken++) expect((await limiter.take('a')).allowed).toBe(true)
      await all.jump(HOUR_MS)
      // the day of Berlin ended at 08:00 in Tokyo, and its days come nearer by an hour each
      expect(await all.quotas.balance('a', all.names)).toMatchObject({ period: '2026-11-11', used: 300, left: 700 })
      expect(await all.hoursLeft('a')).toBe(22)
      await all.quotas.close()
    })

    test('carries over the units that are left when the zone changes, once', async () => {
      const all = await zoned()
      const limiter = all.limiter({ carryOver: 4 })
      all.zones.set('a', 'Europe/Berlin')
      await limiter.take('a', 7)
      all.zones.set('a', 'America/New_York')
      await all.jump(11 * HOUR_MS)
      expect(await all.quotas.balance('a', all.names)).toMatchObject({ carried: 3, left: 13, period: '2026-11-11' })
      // 14 units need a day of which at least one unit is carried over
      expect(await limiter.take('a', 14)).toMatchObject({ allowed: false, retryAfterMs: 30 * HOUR_MS })
      await limiter.take('a', 13)
      expect(await limiter.take('a', 12)).toMatchObject({ allowed: false, retryAfterMs: 54 * HOUR_MS })
      await all.jump(30 * HOUR_MS)
      expect(await all.quotas.balance('a', all.names)).toMatchObject({ carried: 0, left: 10, period: '2026-11-12' })
      await all.quotas.close()
    })

    test('keeps the zone of the last period if the function fails, and reports each failure', async () => {
      const all = await zoned()
      const limiter = all.limiter()
      const failures = [
        new Error('no table'),
        'Mars/Olympus',
        7,
        null,
        '',
        'x'.repeat(1_000_000),
        async () => 'Asia/Tokyo',
        () => Promise.reject(new Error('no table')),
      ]
      all.zones.set('a', 'Asia/Tokyo')
      await limiter.take('a')
      await all.jump(3 * HOUR_MS)
      for (const [index, failure] of failures.entries()) {
        all.zones.set('a', failure).set(`new ${index}`, failure)
        expect((await limiter.take('a')).allowed).toBe(true)
        expect(await all.hoursLeft('a')).toBe(24)
        expect((await limiter.take(`new ${index}`)).allowed).toBe(true)
        expect(await all.hoursLeft(`new ${index}`)).toBe(9)
      }
      expect(all.events.filter(([name]) => name === 'hookFailed')).toHaveLength(4 * failures.length)
      const [[, first], ...others] = all.events.filter(([name]) => name === 'hookFailed')
      expect(first).toEqual({ hook: 'timeZone', error: failures[0] })
      expect(others.at(-1)?.[1]).toMatchObject({ hook: 'timeZone', error: { code: 'SLUICE_BAD_OPTION' } })
      // undefined is allowed: the zone is not known
      all.zones.set('a', undefined)
      await all.jump(24 * HOUR_MS)
      expect(await all.hoursLeft('a')).toBe(24)
      expect(all.events.filter(([name]) => name === 'hookFailed')).toHaveLength(4 * failures.length)
      await all.quotas.close()
    })

    test('works with top-ups, reservations, holds and waterfalls', async () => {
      const all = await zoned()
      const { quotas, names, scope, clock, zoneOf } = all
      const policy = quota({
        name: 'calls',
        limit: 10,
        per: 'day',
        timeZone: zoneOf,
        maxHoldMs: '10m',
        backend: quotas,
      })
      const limiter = createLimiter({ policies: [policy], scope, clock, deadlineMs: 60_000 })
      const plan = waterfall([policy], { scope })
      all.zones.set('a', 'Europe/Berlin')
      await plan.take('a', 4)
      await quotas.topUp('a', 5, { token: 'invoice', ...names })
      await quotas.reserve('a', 3, { id: 'one', ttlMs: '1d', ...names })
      const hold = await limiter.hold('a', { reserve: 6 })
      expect(hold.allowed).toBe(true)
      all.zones.set('a', 'America/New_York')
      await hold.settle(6)
      expect(await plan.take('a', 3)).toMatchObject({ allowed: false, retryAfterMs: 11 * HOUR_MS })
      await all.jump(11 * HOUR_MS)
      expect(await quotas.post('a', 'one', names)).toBe('posted')
      expect((await plan.take('a', 10)).allowed).toBe(true)
      const range = { from: NOON - 2 * DAY_MS, to: NOON + 3 * DAY_MS, ...names }
      const used = (await quotas.usage('a', range)).reduce((sum, one) => sum + one.used, 0)
      expect([used, await all.hoursLeft('a')]).toEqual([23, 30])
      await quotas.close()
    })

    test('reports the days of the zone that each key has, also of a key that is stored as its hash', async () => {
      const all = await zoned()
      const limiter = all.limiter()
      const long = 'k'.repeat(600)
      all.zones.set('a', 'Europe/Berlin').set('b', 'America/New_York').set(long, 'Asia/Tokyo')
      for (const key of ['a', 'b', long]) await limiter.take(key, 2)
      const range = { from: NOON - 2 * DAY_MS, to: NOON + 2 * DAY_MS, ...all.names }
      let csv = ''
      for await (const part of all.quotas.csv(range)) csv += part
      const lines = csv
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',').slice(-5, -2))
      expect(lines.sort()).toEqual([
        ['2026-11-09T15:00:00.000Z', '2026-11-10T15:00:00.000Z', '2'],
        ['2026-11-09T23:00:00.000Z', '2026-11-10T23:00:00.000Z', '2'],
        ['2026-11-10T05:00:00.000Z', '2026-11-11T05:00:00.000Z', '2'],
      ])
      expect(await all.quotas.usage(long, range)).toMatchObject([{ from: Date.UTC(2026, 10, 9, 15), used: 2 }])
      const months = await all.quotas.usage('b', { ...range, by: 'month' })
      expect(months).toMatchObject([{ from: Date.UTC(2026, 10, 1, 4), used: 2 }])
      await all.quotas.close()
    })

    test('sends notices of the day in which a share was used, and forecasts until its end', async () => {
      const periods: string[] = []
      const all = await zoned({ onUsed: ({ period, threshold }) => void periods.push(`${period} ${threshold}`) })
      const limiter = all.limiter()
      // over the date line: the date occurs twice
      all.zones.set('a', 'Pacific/Kiritimati')
      await limiter.take('a', 8)
      all.zones.set('a', 'Pacific/Pago_Pago')
      await all.jump(22 * HOUR_MS)
      await limiter.take('a', 8)
      const { endsAt } = await all.quotas.balance('a', all.names)
      expect(endsAt - all.clock.wall()).toBe(25 * HOUR_MS)
      expect(await all.quotas.forecast('a', all.names)).toMatchObject({ endsAt, left: 2, perHour: 480 })
      expect(periods).toEqual(['2026-11-11 80', '2026-11-11.2 80'])
      await all.jump(25 * HOUR_MS)
      expect(await all.quotas.balance('a', all.names)).toMatchObject({ period: '2026-11-12', left: 10 })
      await all.quotas.close()
    })

    test('settles accounts whose key is not known, in the zone that is stored', async () => {
      const all = await zoned()
      const limiter = all.limiter()
      const long = 'k'.repeat(600)
      all.zones.set(long, 'Asia/Kathmandu')
      await limiter.take(long)
      await all.quotas.reserve(long, 3, { ttlMs: '1h', ...all.names })
      await all.jump(2 * HOUR_MS)
      await all.jump(HOUR_MS)
      expect(await all.quotas.balance(long, all.names)).toMatchObject({ reserved: 0, used: 1, left: 9 })
      expect(await all.hoursLeft(long)).toBe(3.25)
      await all.quotas.close()
    })
  })

  describe('a quota that had one zone', () => {
    test('keeps the day of each key when its keys get zones of their own, and the other way round', async () => {
      const all = await zoned()
      const before = all.limiter({ timeZone: 'Europe/Berlin' })
      await before.take('a', 10)
      before.close()
      all.zones.set('a', 'Asia/Tokyo')
      const after = all.limiter()
      expect(await after.take('a')).toMatchObject({ allowed: false, retryAfterMs: 11 * HOUR_MS })
      after.close()
      const again = all.limiter({ timeZone: 'America/New_York', resetAt: '04:00' })
      expect(await again.take('a')).toMatchObject({ allowed: false, retryAfterMs: 11 * HOUR_MS })
      await all.jump(11 * HOUR_MS)
      // from 18:00 in New York to 04:00 on the day after the next
      expect(await all.hoursLeft('a')).toBe(34)
      await all.quotas.close()
    })
  })
}
