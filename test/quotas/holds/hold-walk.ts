import type { CounterLedger } from '@sluice/counters'
import type { Hold, Limiter } from '@sluice/limiter-core'
import type { SeededRandom } from '@sluice/testkit'
import { DAY_MS, HOUR_MS, HoldFleet, MINUTE_MS, NOVEMBER } from './hold-fleet.ts'
import { dayOf, HoldModel, type ModelHold } from './hold-model.ts'

const MAX_HOLD_MS = 8 * MINUTE_MS
const PROCESSES = 3

interface OpenHold {
  readonly hold: Hold
  readonly model: ModelHold
  readonly process: number
  readonly maxMs: number
}

/** A difference between a walk and the model. */
export interface Difference {
  readonly step: string
  readonly received: unknown
  readonly expected: unknown
}

/**
 * Holds, extends, settles, releases and forgets holds of one key at random, in several processes that end at random,
 * while periods end. Each answer is compared with `HoldModel`. Returns the first difference.
 */
export class HoldWalk {
  readonly #fleet: HoldFleet
  readonly #random: SeededRandom
  readonly #limit: number
  readonly #carryOver: number
  readonly #model: HoldModel
  #processes: { readonly quotas: ReturnType<HoldFleet['join']>; readonly limiter: Limiter }[]
  #open: OpenHold[] = []
  #difference: Difference | undefined
  #passes = 0

  constructor(ledger: CounterLedger, scope: string, random: SeededRandom) {
    this.#fleet = new HoldFleet(ledger, scope, NOVEMBER + DAY_MS + random.whole(DAY_MS))
    this.#random = random
    this.#limit = random.pick([20, 200, 5_000])
    this.#carryOver = random.pick([0, 7, this.#limit])
    const terms = { limit: this.#limit, carryOver: this.#carryOver, maxHoldMs: MAX_HOLD_MS }
    this.#model = new HoldModel(terms, dayOf(this.#now))
    this.#processes = Array.from({ length: PROCESSES }, () => this.#join())
  }

  async run(steps: number): Promise<Difference | undefined> {
    // the account begins with its first use
    await this.#take()
    for (let step = 0; step < steps && !this.#difference; step++) await this.#step()
    if (!this.#difference) await this.#compareUsage()
    await this.#fleet.close()
    return this.#difference
  }

  get #now(): number {
    return this.#fleet.clock.wall()
  }

  #join(): { readonly quotas: ReturnType<HoldFleet['join']>; readonly limiter: Limiter } {
    const quotas = this.#fleet.join()
    const terms = { limit: this.#limit, carryOver: this.#carryOver, per: 'day', maxHoldMs: MAX_HOLD_MS } as const
    return { quotas, limiter: this.#fleet.limiter(quotas, terms) }
  }

  async #step(): Promise<void> {
    const kind = this.#random.whole(100)
    if (kind < 20) await this.#pass()
    else if (kind < 28) await this.#take()
    else if (kind < 60) await this.#hold()
    else if (kind < 72) await this.#extend()
    else if (kind < 96) await this.#end(kind < 80)
    else this.#replaceProcess()
    await this.#compareBalance()
  }

  /** Advances the clock. A reply that is under way meanwhile would report an outdated time of the database. */
  async #pass(): Promise<void> {
    const random = this.#random
    const longest = random.pick([1_000, MINUTE_MS, MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, 30 * HOUR_MS])
    const idle = (): Promise<unknown> => Promise.all(this.#processes.map(({ quotas }) => quotas.idle()))
    await idle()
    this.#fleet.clock.advance(random.whole(longest))
    await idle()
    this.#passes++
    for (const { quotas } of this.#processes) await quotas.balance(`unused-${this.#passes}`, this.#fleet.names)
  }

  async #take(): Promise<void> {
    const units = 1 + this.#random.whole(this.#limit / 4)
    const fits = units <= this.#model.free(this.#now)
    const { allowed, retryAfterMs } = await this.#random.pick(this.#processes).limiter.take('k', units)
    this.#compare(`take ${units}`, allowed, fits)
    if (!fits) this.#compareWait(units, retryAfterMs)
    if (fits) this.#model.spend(units, this.#now)
  }

  async #hold(): Promise<void> {
    const random = this.#random
    const process = random.whole(PROCESSES)
    const reserve = random.whole(this.#limit / 3)
    const maxMs = 1 + random.whole(MAX_HOLD_MS)
    const model = this.#model.hold(reserve, maxMs, this.#now)
    const hold = await this.#processes[process].limiter.hold('k', { reserve, maxMs })
    this.#compare(`hold ${reserve}`, hold.allowed, model !== undefined)
    if (model) this.#open.push({ hold, model, process, maxMs })
    else this.#compareWait(reserve, hold.decision.retryAfterMs)
  }

  async #extend(): Promise<void> {
    if (this.#open.length === 0) return
    const { hold, model, maxMs } = this.#random.pick(this.#open)
    const units = this.#random.whole(this.#limit / 10)
    const fits = this.#model.extend(model, units, maxMs, this.#now)
    this.#compare(`extend ${units}`, await hold.extend(units), fits)
  }

  async #end(isRelease: boolean): Promise<void> {
    if (this.#open.length === 0) return
    const [{ hold, model }] = this.#open.splice(this.#random.whole(this.#open.length), 1)
    const actual = isRelease ? 0 : this.#random.whole(model.units + this.#limit / 10)
    this.#model.settle(model, actual, this.#now)
    const { remaining } = isRelease ? (await hold.release()).binding : (await hold.settle(actual)).binding
    this.#compare(`settle ${actual}`, remaining, this.#model.free(this.#now))
    // only the first call has an effect
    if (this.#random.whole(3) === 0) await hold.settle(actual + 1)
  }

  /** Ends a process, which settles none of its holds. */
  #replaceProcess(): void {
    const process = this.#random.whole(PROCESSES)
    this.#open = this.#open.filter((one) => one.process !== process)
    this.#processes[process] = this.#join()
  }

  /** Checks that units fit after a wait if nothing else happens, and not one millisecond earlier. */
  #compareWait(units: number, waitMs: number): void {
    const fits = [waitMs - 1, waitMs].map((ms) => units <= this.#model.free(this.#now + ms))
    this.#compare(`wait ${waitMs} for ${units}`, fits, [false, true])
  }

  async #compareBalance(): Promise<void> {
    const now = this.#now
    const { quotas } = this.#random.pick(this.#processes)
    const { used, held, available } = await quotas.balance('k', this.#fleet.names)
    const expected = [this.#model.spent(dayOf(now)), this.#model.held(now), this.#model.free(now)]
    this.#compare('balance', [used, held, available], expected)
  }

  async #compareUsage(): Promise<void> {
    const range = { from: NOVEMBER, to: NOVEMBER + 300 * DAY_MS, by: 'day', ...this.#fleet.names } as const
    const usage = await this.#processes[0].quotas.usage('k', range)
    const days = usage.map(({ from, used }) => [from / DAY_MS, used])
    const expected = days.map(([day]) => [day, this.#model.spent(day)])
    this.#compare('usage', days, expected)
    this.#compare(
      'all usage',
      usage.reduce((sum, { used }) => sum + used, 0),
      this.#model.allSpent,
    )
  }

  #compare(step: string, received: unknown, expected: unknown): void {
    if (JSON.stringify(received) !== JSON.stringify(expected)) this.#difference ??= { step, received, expected }
  }
}
