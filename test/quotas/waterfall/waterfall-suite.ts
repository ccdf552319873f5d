import type { CounterLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, credits, type Quotas, quota, type Waterfall, waterfall } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import type { QuotaRunner } from '../quota-suite.ts'

const DAY_MS = 86_400_000
const MOST = 999_999_999_999_999

/** A process with a waterfall of 700 included units, credits and 500 units of overage a month. */
interface Process {
  readonly quotas: Quotas
  readonly plan: Waterfall
}

/** Processes with one database and one clock. */
class WaterfallFleet {
  readonly clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  readonly scope: string
  readonly #ledger: CounterLedger

  constructor({ ledger, scope }: { readonly ledger: CounterLedger; readonly scope: string }) {
    this.#ledger = ledger
    this.scope = scope
  }

  quotas(): Quotas {
    const { clock } = this
    return createQuotas(this.#ledger, { clock, serverTime: () => clock.wall(), waitMs: '1h' })
  }

  join(included = 700, overage = 500, unit = 'requests'): Process {
    const quotas = this.quotas()
    const parts = [
      quota({ name: 'included', limit: included, per: 'month', backend: quotas, unit }),
      credits({ backend: quotas, unit }),
      quota({ name: 'overage', limit: overage, per: 'month', backend: quotas, unit }),
    ]
    return { quotas, plan: waterfall(parts, { scope: this.scope }) }
  }

  named(policy: string): { readonly policy: string; readonly scope: string } {
    return { policy, scope: this.scope }
  }

  topUp({ quotas }: Process, key: string, units: number, expiresAt?: number): Promise<boolean> {
    return quotas.topUp(key, units, { ...this.named('credits'), token: `invoice ${key} ${units}`, expiresAt })
  }

  /** Returns the used units of the parts in the current period. */
  async used({ quotas }: Process, key: string): Promise<readonly number[]> {
    const names = ['included', 'credits', 'overage']
    return Promise.all(names.map(async (name) => (await quotas.balance(key, this.named(name))).used))
  }
}

/** The suite that waterfalls must pass on every quota database. `open` returns a database, or unused scopes of one. */
export function waterfallSuite(
  { describe, expect, test }: QuotaRunner,
  open: () => Promise<{ readonly ledger: CounterLedger; readonly scope: string }>,
): void {
  const fleet = async (): Promise<WaterfallFleet> => new WaterfallFleet(await open())

  describe('a take', () => {
    test('uses included units, then credits, then overage, and reports how much came from where', async () => {
      const all = await fleet()
      const one = all.join()
      await all.topUp(one, 'a', 400)
      const first = await one.plan.take('a', 1_000, { idempotencyKey: 'order 1' })
      expect(first).toMatchObject({ allowed: true, units: 1_000, remaining: 600, retryAfterMs: 0 })
      expect(first.parts).toEqual([
        { name: 'included', units: 700 },
        { name: 'credits', units: 300 },
      ])
      expect((await one.plan.take('a', 250)).parts).toEqual([
        { name: 'credits', units: 100 },
        { name: 'overage', units: 150 },
      ])
      expect(await all.used(one, 'a')).toEqual([700, 400, 150])
      await one.quotas.close()
    })

    test('that does not fit is denied and charges no part', async () => {
      const all = await fleet()
      const one = all.join()
      await one.plan.take('a', 500)
      const denied = await one.plan.take('a', 701)
      const retryAfterMs = Date.UTC(2026, 11, 1) - all.clock.wall()
      expect(denied).toMatchObject({ allowed: false, units: 701, parts: [], remaining: 700, retryAfterMs })
      expect(await all.used(one, 'a')).toEqual([500, 0, 0])
      // the sum of all parts never reaches it
      expect(await one.plan.take('a', 1_201)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
      await one.quotas.close()
    })

    test('that was denied passes exactly after retryAfterMs', async () => {
      const all = await fleet()
      const one = all.join()
      await one.plan.take('a', 1_200)
      const { retryAfterMs } = await one.plan.take('a', 1)
      all.clock.stepWall(retryAfterMs - 1)
      expect((await one.plan.peek('a')).allowed).toBe(false)
      all.clock.stepWall(1)
      expect((await one.plan.take('a', 1_200)).allowed).toBe(true)
      await one.quotas.close()
    })

    test('uses credits across months, and included units and overage again in each month', async () => {
      const all = await fleet()
      const one = all.join()
      await all.topUp(one, 'a', 1_000)
      expect((await one.plan.take('a', 1_000)).parts.map(({ units }) => units)).toEqual([700, 300])
      all.clock.stepWall(200 * DAY_MS)
      expect((await one.plan.take('a', 1_000)).parts.map(({ units }) => units)).toEqual([700, 300])
      expect(await one.plan.peek('a')).toMatchObject({ remaining: 400 + 500 })
      await one.quotas.close()
    })

    test('uses no credits that have expired', async () => {
      const all = await fleet()
      const one = all.join()
      await all.topUp(one, 'a', 100, all.clock.wall() + DAY_MS)
      expect((await one.plan.peek('a')).remaining).toBe(1_300)
      all.clock.stepWall(DAY_MS)
      expect((await one.plan.peek('a')).remaining).toBe(1_200)
      await one.quotas.close()
    })

    test('shares the included units with limiters', async () => {
      const all = await fleet()
      const one = all.join(60)
      const policies = [quota({ name: 'included', limit: 60, per: 'month', backend: one.quotas })]
      const limiter = createLimiter({ policies, scope: all.scope, clock: all.clock, deadlineMs: 60_000 })
      expect((await limiter.take('a', 50)).allowed).toBe(true)
      expect((await one.plan.take('a', 20)).parts.map(({ units }) => units)).toEqual([10, 10])
      expect((await limiter.take('a', 1)).allowed).toBe(false)
      limiter.close()
      await one.quotas.close()
    })

    test('counts money in micro-units exactly, up to the largest limit', async () => {
      const all = await fleet()
      const one = all.join(2_500_000, MOST, 'micro-usd')
      const { parts, remaining } = await one.plan.take('a', 2_500_001)
      expect(parts).toEqual([
        { name: 'included', units: 2_500_000 },
        { name: 'overage', units: 1 },
      ])
      expect(remaining).toBe(MOST - 1)
      expect((await one.plan.take('a', MOST - 1)).allowed).toBe(true)
      expect(await one.plan.peek('a')).toMatchObject({ allowed: false, remaining: 0 })
      await one.quotas.close()
    })
  })

  describe('an idempotency key', () => {
    test('returns the same answer and is charged once, in every process and period', async () => {
      const all = await fleet()
      const [one, other] = [all.join(), all.join()]
      const options = { idempotencyKey: 'order 1' }
      const first = await one.plan.take('a', 800, options)
      expect(await one.plan.take('a', 800, options)).toEqual(first)
      // it does not fit any longer
      await one.plan.take('a', 400)
      expect(await other.plan.take('a', 800, options)).toEqual(first)
      all.clock.stepWall(40 * DAY_MS)
      expect(await other.plan.take('a', 800, options)).toEqual(first)
      expect(await all.used(one, 'a')).toEqual([0, 0, 0])
      for (const { quotas } of [one, other]) await quotas.close()
    })

    test('that is used at once by several processes is charged once', async () => {
      const all = await fleet()
      const processes = [all.join(), all.join(), all.join()]
      const answers = await Promise.all(
        [...processes, ...processes].map(({ plan }) => plan.take('a', 1_000, { idempotencyKey: 'order 1' })),
      )
      for (const answer of answers) expect(answer).toEqual(answers[0])
      expect(await all.used(processes[0], 'a')).toEqual([700, 0, 300])
      for (const { quotas } of processes) await quotas.close()
    })

    test('of a denied take is decided again', async () => {
      const all = await fleet()
      const one = all.join()
      expect((await one.plan.take('a', 1_201, { idempotencyKey: 'order 1' })).allowed).toBe(false)
      await all.topUp(one, 'a', 1)
      expect((await one.plan.take('a', 1_201, { idempotencyKey: 'order 1' })).allowed).toBe(true)
      await one.quotas.close()
    })

    test('counts separately for each key, and rejects other units', async () => {
      const all = await fleet()
      const one = all.join()
      await one.plan.take('a', 1, { idempotencyKey: 'order 1' })
      await one.plan.take('b', 2, { idempotencyKey: 'order 1' })
      expect(await all.used(one, 'b')).toEqual([2, 0, 0])
      await expect(one.plan.take('a', 2, { idempotencyKey: 'order 1' })).rejects.toMatchObject({
        code: 'SLUICE_TOKEN_REUSED',
      })
      await one.quotas.close()
    })
  })

  describe('takes of several processes at once', () => {
    test('never exceed the units of all parts, and their parts add up', async () => {
      const all = await fleet()
      const processes = Array.from({ length: 4 }, () => all.join())
      await all.topUp(processes[0], 'a', 100)
      const costs = Array.from({ length: 80 }, (_, index) => 10 + (index % 40))
      const takes = await Promise.all(costs.map((cost, index) => processes[index % 4].plan.take('a', cost)))
      const allowed = takes.filter((take) => take.allowed)
      const denied = costs.filter((_, index) => !takes[index].allowed)
      const sums = new Map<string, number>()
      for (const { parts, units } of allowed) {
        expect(parts.reduce((sum, part) => sum + part.units, 0)).toBe(units)
        for (const part of parts) sums.set(part.name, (sums.get(part.name) ?? 0) + part.units)
      }
      const used = await all.used(processes[0], 'a')
      expect(used).toEqual(['included', 'credits', 'overage'].map((name) => sums.get(name) ?? 0))
      const left = (await processes[1].plan.peek('a')).remaining
      expect(used.reduce((sum, units) => sum + units, left)).toBe(1_300)
      // they are decided in any order: each denied take needed more than was left then, and more than is left now
      expect(left).toBeLessThan(Math.min(...denied))
      for (const { quotas } of processes) await quotas.close()
    })
  })

  describe('a reservation', () => {
    test('counts as taken until it is settled with the units that were used', async () => {
      const all = await fleet()
      const one = all.join()
      await all.topUp(one, 'a', 100)
      const reserved = await one.plan.reserve('a', 900, { ttlMs: '10m', idempotencyKey: 'job 1' })
      expect(reserved).toMatchObject({ allowed: true, remaining: 400, endsAt: all.clock.wall() + 600_000 })
      expect(reserved.parts.map(({ units }) => units)).toEqual([700, 100, 100])
      expect(await one.plan.take('a', 401)).toMatchObject({ allowed: false, remaining: 400 })
      const settled = await all.join().plan.settle('a', 750, reserved)
      expect(settled).toMatchObject({ allowed: true, units: 750, remaining: 550, idempotencyKey: 'job 1' })
      expect(await all.used(one, 'a')).toEqual([700, 50, 0])
      expect((await one.plan.refund('a', 60, settled)).parts.map(({ units }) => units)).toEqual([50, 10])
      await one.quotas.close()
    })

    test('that does not fit is denied, and returns its units when it expires', async () => {
      const all = await fleet()
      const one = all.join()
      expect(await one.plan.reserve('a', 1_201)).toMatchObject({ allowed: false, parts: [], remaining: 1_200 })
      expect((await one.plan.reserve('a', 1_000, { ttlMs: '1s' })).allowed).toBe(true)
      expect((await one.plan.peek('a')).remaining).toBe(200)
      all.clock.stepWall(1_000)
      expect((await one.plan.peek('a')).remaining).toBe(1_200)
      await one.quotas.close()
    })

    test('can be settled with nothing, with more than the cap, and after it expired', async () => {
      const all = await fleet()
      const one = all.join()
      const reserve = (id: string) => one.plan.reserve('a', 300, { ttlMs: '1s', idempotencyKey: id })
      expect(await one.plan.settle('a', 0, await reserve('nothing'))).toMatchObject({ parts: [], remaining: 1_200 })
      const late = await reserve('late')
      all.clock.stepWall(1_000)
      expect((await one.plan.settle('a', 10, late)).parts).toEqual([{ name: 'included', units: 10 }])
      const more = await one.plan.settle('a', 1_300, await reserve('more'))
      expect(more.parts.map(({ units }) => units)).toEqual([690, 610])
      expect(more.remaining).toBe(0)
      expect(await one.quotas.balance('a', all.named('overage'))).toMatchObject({ used: 610, left: -110 })
      await one.quotas.close()
    })

    test('is made and settled once, by whichever process', async () => {
      const all = await fleet()
      const [one, other] = [all.join(), all.join()]
      const both = [one, other, one, other]
      const id = 'job 1'
      const made = await Promise.all(both.map(({ plan }) => plan.reserve('a', 100, { idempotencyKey: id })))
      for (const each of made) expect(each).toEqual(made[0])
      expect((await one.plan.peek('a')).remaining).toBe(1_100)
      const settled = await Promise.all(both.map(({ plan }) => plan.settle('a', 80, id)))
      for (const each of settled) expect(each).toEqual(settled[0])
      expect(await all.used(one, 'a')).toEqual([80, 0, 0])
      await expect(one.plan.settle('a', 81, id)).rejects.toMatchObject({ code: 'SLUICE_TOKEN_REUSED' })
      await expect(one.plan.reserve('a', 81, { idempotencyKey: id })).rejects.toMatchObject({
        code: 'SLUICE_TOKEN_REUSED',
      })
      await expect(one.plan.settle('b', 80, id)).rejects.toMatchObject({ code: 'SLUICE_NO_RESERVATION' })
      await expect(one.plan.settle('a', -1, id)).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
      await expect(one.plan.reserve('a', 0)).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
      for (const { quotas } of [one, other]) await quotas.close()
    })
  })

  describe('a refund', () => {
    test('gives units back in reverse order, once', async () => {
      const all = await fleet()
      const one = all.join()
      await all.topUp(one, 'a', 100)
      const taken = await one.plan.take('a', 1_000)
      expect(await all.used(one, 'a')).toEqual([700, 100, 200])
      const refund = { units: 450, parts: [200, 100, 150] }
      const answer = await one.plan.refund('a', 450, taken)
      expect(answer.parts.map(({ name }) => name)).toEqual(['overage', 'credits', 'included'])
      expect({ ...answer, parts: answer.parts.map(({ units }) => units) }).toEqual(refund)
      expect(await all.join().plan.refund('a', 450, taken.idempotencyKey)).toEqual(answer)
      expect(await all.used(one, 'a')).toEqual([550, 0, 0])
      expect(await one.quotas.balance('a', all.named('credits'))).toMatchObject({ topUpLeft: 100, available: 100 })
      await one.quotas.close()
    })

    test('with its own idempotency key can follow other refunds, up to the units of the take', async () => {
      const all = await fleet()
      const [one, other] = [all.join(), all.join()]
      const taken = await one.plan.take('a', 900)
      const parts = await Promise.all(
        [one, other, one, other].map(({ plan }, index) =>
          plan.refund('a', 150, taken, { idempotencyKey: `refund ${index}` }),
        ),
      )
      const overage = parts.flatMap((refund) => refund.parts).filter(({ name }) => name === 'overage')
      expect(overage.reduce((sum, { units }) => sum + units, 0)).toBe(200)
      expect(await all.used(one, 'a')).toEqual([300, 0, 0])
      const tooMany = one.plan.refund('a', 301, taken, { idempotencyKey: 'refund 5' })
      await expect(tooMany).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
      await one.plan.refund('a', 300, taken, { idempotencyKey: 'refund 5' })
      expect(await all.used(one, 'a')).toEqual([0, 0, 0])
      for (const { quotas } of [one, other]) await quotas.close()
    })

    test('returns units to the periods of the take, not to the current ones', async () => {
      const all = await fleet()
      const one = all.join()
      const taken = await one.plan.take('a', 1_000)
      all.clock.stepWall(40 * DAY_MS)
      await one.plan.take('a', 1_000)
      expect(await one.plan.refund('a', 1_000, taken)).toMatchObject({ units: 1_000 })
      expect(await all.used(one, 'a')).toEqual([700, 0, 300])
      const usage = await one.quotas.usage('a', { ...all.named('overage'), from: 0, to: all.clock.wall() + DAY_MS })
      expect(usage.map(({ used }) => used)).toEqual([0, 300])
      await one.quotas.close()
    })

    test('of an unknown take, of too many units and with other units rejects', async () => {
      const all = await fleet()
      const one = all.join()
      const { plan } = one
      const taken = await plan.take('a', 10)
      const codes = { unknown: 'SLUICE_UNKNOWN_TAKE', bad: 'SLUICE_BAD_OPTION', reused: 'SLUICE_TOKEN_REUSED' }
      await expect(plan.refund('a', 1, 'unknown')).rejects.toMatchObject({ code: codes.unknown })
      await expect(plan.refund('b', 1, taken)).rejects.toMatchObject({ code: codes.unknown })
      await expect(plan.refund('a', 11, taken)).rejects.toMatchObject({ code: codes.bad })
      for (const units of [0, -1, 1.5, Number.NaN]) {
        await expect(plan.refund('a', units, taken)).rejects.toMatchObject({ code: codes.bad })
        await expect(plan.take('a', units)).rejects.toMatchObject({ code: codes.bad })
        await expect(plan.peek('a', units)).rejects.toMatchObject({ code: codes.bad })
      }
      await plan.refund('a', 4, taken)
      await expect(plan.refund('a', 5, taken)).rejects.toMatchObject({ code: codes.reused })
      expect(await all.used(one, 'a')).toEqual([6, 0, 0])
      await one.quotas.close()
    })
  })
}
