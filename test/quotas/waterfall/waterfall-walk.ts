import type { CounterLedger } from '@sluice/counters'
import { createQuotas, credits, type Quotas, quota, type Waterfall, waterfall } from '@sluice/quotas'
import { FakeClock, type SeededRandom } from '@sluice/testkit'
import { expect } from 'expect'
import type { QuotaTable } from '../../../packages/counters/src/ledger/quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from '../faults/faulty-quota-table.ts'
import { WaterfallModel } from './waterfall-model.ts'

const HOUR_MS = 3_600_000
const KEYS = ['a', 'b'] as const

export interface WalkOptions {
  readonly random: SeededRandom
  readonly scope: string
  /** Opens the ledger, again after each simulated crash. */
  readonly open: () => Promise<CounterLedger>
  /** Probability of a crash at a step. */
  readonly crashes: number
}

/** What a call should return: a value, or the code of its error. */
type Expected = object | boolean | string

/**
 * Random takes, repeated tokens, refunds, top-ups and steps of the clock, compared with a model. Replies of the database
 * are lost before or after a write, and processes crash; calls are then repeated with their tokens.
 */
export class WaterfallWalk {
  readonly #options: WalkOptions
  readonly #random: SeededRandom
  readonly #clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 29, 20) })
  readonly #limits: { readonly included: number; readonly overage: number }
  readonly #models = new Map<string, WaterfallModel>()
  /** Tokens of takes, with their keys and units. */
  readonly #takes: { readonly key: string; readonly token: string; readonly units: number }[] = []
  readonly #holds: { readonly key: string; readonly token: string; readonly units: number }[] = []
  #quotas: Quotas | undefined
  #waterfall: Waterfall | undefined
  #failing: 'before' | 'after' | undefined
  #made = 0

  constructor(options: WalkOptions) {
    this.#options = options
    this.#random = options.random
    const { random } = options
    this.#limits = { included: random.pick([1, 20, 100]), overage: random.pick([1, 30, 100]) }
    for (const key of KEYS) this.#models.set(key, new WaterfallModel(this.#limits.included, this.#limits.overage))
  }

  async run(steps: number): Promise<void> {
    await this.#open()
    for (let step = 0; step < steps; step++) await this.#step()
    await this.#audit()
    await this.#quotas?.close()
  }

  async #open(): Promise<void> {
    const { open, scope } = this.#options
    const ledger = await open()
    const clock = this.#clock
    const serverTime = (): number => clock.wall()
    const table = new FaultyQuotaTable(ledger.openQuotas?.(serverTime) as QuotaTable, {
      before: (call) => this.#fail('before', call),
      after: (call) => this.#fail('after', call),
    })
    const quotas = createQuotas(quotasOnly(table), { clock, waitMs: '1h' })
    const { included, overage } = this.#limits
    this.#quotas = quotas
    this.#waterfall = waterfall(
      [
        quota({ name: 'included', limit: included, per: 'month', backend: quotas }),
        credits({ backend: quotas }),
        quota({ name: 'overage', limit: overage, per: 'day', backend: quotas }),
      ],
      { scope },
    )
  }

  #fail(side: 'before' | 'after', call: string): void {
    if (call !== 'commit' || this.#failing !== side) return
    this.#failing = undefined
    throw new Error(`no reply, ${side} the write`)
  }

  async #step(): Promise<void> {
    const random = this.#random
    if (random.next() < this.#options.crashes) await this.#open()
    if (random.whole(4) === 0) this.#clock.stepWall(random.pick([1, HOUR_MS, 7 * HOUR_MS, 24 * HOUR_MS, 200 * HOUR_MS]))
    const key = random.pick(KEYS)
    const act = random.whole(14)
    if (act < 4) await this.#take(key)
    else if (act < 7) await this.#refund()
    else if (act < 8) await this.#topUp(key)
    else if (act < 10) await this.#reserve(key)
    else if (act < 12) await this.#settle(key)
    else await this.#peek(key)
  }

  async #take(key: string): Promise<void> {
    const random = this.#random
    const earlier = random.whole(5) === 0 ? random.pick(this.#takes) : undefined
    const units = random.pick([1, 7, 1 + random.whole(60), 1 + random.whole(400)])
    const one = earlier ?? { key, token: `take ${++this.#made}`, units }
    if (!earlier) this.#takes.push(one)
    const expected = this.#model(one.key).take(this.#clock.wall(), one.units, one.token)
    await this.#same({ ...expected, idempotencyKey: one.token }, () =>
      (this.#waterfall as Waterfall).take(one.key, one.units, { idempotencyKey: one.token }),
    )
  }

  async #reserve(key: string): Promise<void> {
    const random = this.#random
    const earlier = random.whole(5) === 0 ? random.pick(this.#holds) : undefined
    const one = earlier ?? { key, token: `hold ${++this.#made}`, units: 1 + random.whole(80) }
    if (!earlier) this.#holds.push(one)
    const ttlMs = random.pick([1_000, HOUR_MS, 24 * HOUR_MS])
    const expected = this.#model(one.key).reserve(this.#clock.wall(), one.units, one.token, ttlMs)
    await this.#same({ ...expected, idempotencyKey: one.token }, () =>
      (this.#waterfall as Waterfall).reserve(one.key, one.units, { idempotencyKey: one.token, ttlMs }),
    )
  }

  async #settle(key: string): Promise<void> {
    const random = this.#random
    const one = random.pick([...this.#holds.slice(-4), { key, token: 'unknown', units: 1 }])
    const units = random.pick([0, one.units, 1 + random.whole(120)])
    const expected = this.#model(one.key).settle(this.#clock.wall(), units, one.token)
    const isAnswer = typeof expected !== 'string'
    if (isAnswer && units > 0) this.#takes.push({ key: one.key, token: one.token, units })
    await this.#same(isAnswer ? { ...expected, idempotencyKey: one.token } : expected, () =>
      (this.#waterfall as Waterfall).settle(one.key, units, one.token),
    )
  }

  async #refund(): Promise<void> {
    const random = this.#random
    const one = random.pick([...this.#takes.slice(-5), ...this.#takes.slice(0, 3)])
    if (!one) return
    const units = random.pick([1, 5, 1 + random.whole(one.units), one.units])
    const own = random.pick(['', 'x', `refund ${++this.#made}`])
    const expected = this.#model(one.key).refund(units, one.token, own)
    await this.#same(expected, () =>
      (this.#waterfall as Waterfall).refund(one.key, units, one.token, own ? { idempotencyKey: own } : {}),
    )
  }

  async #topUp(key: string): Promise<void> {
    const units = 1 + this.#random.whole(80)
    const token = this.#random.pick([`top-up ${++this.#made}`, 'top-up'])
    const options = { policy: 'credits', scope: this.#options.scope, token }
    const expected = this.#model(key).topUp(units, token)
    const isSame = await (this.#quotas as Quotas).topUp(key, units, options)
    expect(isSame).toBe(expected)
  }

  async #peek(key: string): Promise<void> {
    const units = 1 + this.#random.whole(100)
    expect(await (this.#waterfall as Waterfall).peek(key, units)).toEqual(
      this.#model(key).peek(this.#clock.wall(), units),
    )
  }

  /** Compares the answer of a call. If its reply is lost, the call is repeated, sometimes by another process. */
  async #same(expected: Expected, call: () => Promise<unknown>): Promise<void> {
    const random = this.#random
    this.#failing = random.pick([undefined, undefined, undefined, 'before', 'after'])
    const codeOf = (error: { readonly code?: string }): string | undefined => error.code
    let answer = await call().catch(codeOf)
    this.#failing = undefined
    if (answer === 'SLUICE_COUNTERS_UNAVAILABLE') {
      if (random.next() < this.#options.crashes * 10) await this.#open()
      answer = await call().catch(codeOf)
    }
    expect(answer).toEqual(expected)
  }

  /** Compares the balances and the usage of all time with the model. */
  async #audit(): Promise<void> {
    const now = this.#clock.wall()
    const range = { from: 0, to: now + HOUR_MS, by: 'month' } as const
    for (const key of KEYS) {
      for (const part of this.#model(key).parts) {
        const named = { policy: part.name, scope: this.#options.scope }
        const quotas = this.#quotas as Quotas
        const balance = await quotas.balance(key, named)
        expect(balance).toMatchObject({ used: part.usedAt(now), available: part.free(now) })
        const usage = await quotas.usage(key, { ...range, ...named })
        expect(usage.reduce((sum, { used }) => sum + used, 0)).toBe(part.charged)
      }
    }
  }

  #model(key: string): WaterfallModel {
    return this.#models.get(key) as WaterfallModel
  }
}
