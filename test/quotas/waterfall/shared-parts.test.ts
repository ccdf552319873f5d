import { expect, test } from '@jest/globals'
import { limitOverrides } from '@sluice/limiter-core'
import { createQuotas, credits, type Quotas, quota, type Waterfall, waterfall } from '@sluice/quotas'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from '../faults/faulty-quota-table.ts'

const HOUR_MS = 3_600_000
/** The last two are the last parts of waterfalls, which settlements may charge beyond their limits. */
const NAMES = ['p0', 'p1', 'p2', 'p3', 'p4', 'credits', 'p5', 'p6']
const ORDERS = [NAMES, [...NAMES.slice(0, 6).reverse(), 'p6'], ['p2', 'p0', 'p5']] as const
const MAX_LIMIT = 60

interface Take {
  readonly plan: number
  readonly id: string
  readonly units: number
}

/** Waterfalls in three processes that share eight parts in different orders, with concurrent calls and lost replies. */
class SharedParts {
  readonly #random: SeededRandom
  readonly #clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 29, 20) })
  readonly #table: FaultyQuotaTable
  readonly #processes: { readonly quotas: Quotas; readonly plans: readonly Waterfall[] }[] = []
  readonly #limits = NAMES.map(() => limitOverrides({ limits: {} }))
  readonly #takes: Take[] = []
  /** Charged units of each part, from the answers of the first calls with each key. */
  readonly #charged = new Map<string, number>()
  #made = 0

  constructor(random: SeededRandom) {
    this.#random = random
    const fail = (): void => {
      if (random.whole(12) === 0) throw new Error('no reply')
    }
    this.#table = new FaultyQuotaTable(new MemoryQuotaTable(() => this.#clock.wall()), {
      // other processes run between any two calls
      before: async (call) => {
        for (let turn = random.whole(6); turn > 0; turn--) await Promise.resolve()
        if (call === 'commit') fail()
      },
      after: (call) => {
        if (call === 'commit') fail()
      },
    })
    for (let index = 0; index < 3; index++) this.#processes.push(this.#open())
  }

  async run(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const random = this.#random
      if (random.whole(3) === 0)
        this.#clock.stepWall(random.pick([1, 60_000, HOUR_MS, 30 * HOUR_MS, -60_000, -HOUR_MS]))
      if (random.whole(2) === 0) {
        const limits = { key: 1 + random.whole(MAX_LIMIT) }
        this.#limits[random.whole(NAMES.length)] = limitOverrides({ limits })
      }
      await Promise.all(Array.from({ length: 8 }, () => this.#call()))
      await this.#audit()
    }
    await Promise.all(this.#processes.map(({ quotas }) => quotas.close()))
  }

  #open(): { readonly quotas: Quotas; readonly plans: readonly Waterfall[] } {
    const quotas = createQuotas(quotasOnly(this.#table), { clock: this.#clock, waitMs: '1h' })
    const parts = new Map(
      NAMES.map((name, index) => {
        const per = index % 2 === 0 ? 'day' : 'month'
        const limitOf = (key: string): number | undefined => this.#limits[index].limitOf(key)
        const overrides = Object.assign(limitOverrides({ limits: {} }), { limitOf })
        const part =
          name === 'credits'
            ? credits({ backend: quotas })
            : quota({ name, limit: 20, per, backend: quotas, overrides })
        return [name, part]
      }),
    )
    return { quotas, plans: ORDERS.map((order) => waterfall(order.map((name) => parts.get(name) as never))) }
  }

  #call(): Promise<void> {
    const act = this.#random.whole(10)
    if (act < 4) return this.#take()
    if (act < 6) return this.#reserved()
    return act < 9 ? this.#refund() : this.#topUp()
  }

  async #take(): Promise<void> {
    const random = this.#random
    const take = { plan: random.whole(ORDERS.length), id: `id ${++this.#made}`, units: 1 + random.whole(70) }
    // several processes at once, sometimes with other units
    const calls = Array.from({ length: 1 + random.whole(3) }, () => {
      const units = random.whole(6) === 0 ? take.units + 1 : take.units
      return this.#sent((plans) => plans[take.plan].take('key', units, { idempotencyKey: take.id }))
    })
    const answers = await Promise.all(calls)
    const allowed = answers.filter((answer) => typeof answer !== 'string' && answer.allowed)
    for (const answer of allowed) expect(answer).toEqual(allowed[0])
    for (const answer of answers) if (typeof answer === 'string') expect(answer).toBe('SLUICE_TOKEN_REUSED')
    const [first] = allowed
    if (!first || typeof first === 'string') return
    this.#count(first, 1)
    this.#takes.push({ ...take, units: first.units })
  }

  async #reserved(): Promise<void> {
    const random = this.#random
    const plan = random.whole(ORDERS.length)
    // waterfalls with other first parts use the same ids
    const id = `id ${this.#made - random.whole(3)} reserved ${++this.#made}`
    const ttlMs = random.pick([1_000, 2 * HOUR_MS])
    const units = 1 + random.whole(50)
    const made = await this.#sent((plans) => plans[plan].reserve('key', units, { idempotencyKey: id, ttlMs }))
    if (typeof made === 'string' || !made.allowed) return
    expect(made.parts.reduce((sum, part) => sum + part.units, 0)).toBe(units)
    const used = random.pick([0, 1, units, units + 30])
    const settled = await Promise.all([1, 2].map(() => this.#sent((plans) => plans[plan].settle('key', used, id))))
    expect(settled[1]).toEqual(settled[0])
    if (typeof settled[0] === 'string') throw new Error(settled[0])
    this.#count(settled[0], 1)
    if (used > 0) this.#takes.push({ plan, id, units: used })
  }

  async #refund(): Promise<void> {
    const random = this.#random
    const take = random.pick(this.#takes.slice(-8))
    if (!take) return
    const units = 1 + random.whole(take.units)
    const idempotencyKey = `refund ${++this.#made}`
    const calls = [1, 2].map(() =>
      this.#sent((plans) => plans[take.plan].refund('key', units, take.id, { idempotencyKey })),
    )
    const [answer, same] = await Promise.all(calls)
    expect(same).toEqual(answer)
    if (typeof answer === 'string') expect(answer).toBe('SLUICE_BAD_OPTION')
    else this.#count(answer, -1)
  }

  async #topUp(): Promise<void> {
    const random = this.#random
    const expiresAt = random.pick([undefined, this.#clock.wall() + 40 * HOUR_MS])
    const options = { policy: 'credits', token: `top-up ${++this.#made}`, expiresAt }
    const { quotas } = random.pick(this.#processes)
    const units = 1 + random.whole(40)
    while ((await quotas.topUp('key', units, options).catch(codeOf)) === 'SLUICE_COUNTERS_UNAVAILABLE');
  }

  /** Returns an answer or the code of an error. Calls without a reply are repeated by any process. */
  async #sent<T>(call: (plans: readonly Waterfall[]) => Promise<T>): Promise<T | string> {
    for (;;) {
      const answer = await call(this.#random.pick(this.#processes).plans).catch(codeOf)
      if (answer !== 'SLUICE_COUNTERS_UNAVAILABLE') return answer
    }
  }

  #count(
    { parts }: { readonly parts: readonly { readonly name: string; readonly units: number }[] },
    sign: number,
  ): void {
    for (const { name, units } of parts) this.#charged.set(name, (this.#charged.get(name) ?? 0) + sign * units)
  }

  /** Compares usage and entries with the answers, and the used units with the limits. */
  async #audit(): Promise<void> {
    const [{ quotas }] = this.#processes
    for (const [index, name] of NAMES.entries()) {
      const usage = await quotas.usage('key', {
        policy: name,
        from: 0,
        to: this.#clock.wall() + 48 * HOUR_MS,
        by: 'month',
      })
      const charged = this.#charged.get(name) ?? 0
      expect([name, usage.reduce((sum, { used }) => sum + used, 0)]).toEqual([name, charged])
      const layout = name === 'credits' ? 'credits@1' : `calendar-${index % 2 === 0 ? 'day' : 'month'}@1`
      const entries = await this.#table.entries({ name: `default/${name}/${layout}`, key: 'key', after: 0, limit: 1e6 })
      const changed = entries.filter(({ kind }) => kind === 'taken' || kind === 'returned')
      expect([name, changed.reduce((sum, { units }) => sum + units, 0)]).toEqual([name, charged])
      if (index >= 6) continue
      const { used, toppedUp, topUpLeft, available } = await balanceOf(quotas, name)
      expect(used).toBeLessThanOrEqual(name === 'credits' ? toppedUp : MAX_LIMIT)
      expect(available).toBeLessThanOrEqual(name === 'credits' ? topUpLeft : MAX_LIMIT)
    }
  }
}

async function balanceOf(quotas: Quotas, policy: string): ReturnType<Quotas['balance']> {
  for (;;) {
    const balance = await quotas.balance('key', { policy }).catch(codeOf)
    if (typeof balance !== 'string') return balance
  }
}

function codeOf(error: { readonly code?: string }): string {
  if (error.code === undefined) throw error
  return error.code
}

test(
  'waterfalls that share parts in other orders charge what they answer, and no more than the limits',
  () => eachSeed(3, (random) => new SharedParts(random).run(40)),
  60_000,
)
