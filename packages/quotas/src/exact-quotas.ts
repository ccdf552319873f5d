import {
  type Answer,
  type Backend,
  type Charge,
  type ChargePart,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  type Moment,
  mergedAnswer,
  SluiceError,
  takeParts,
} from '@sluice/limiter-core/backend'
import type { AccountStore } from './account/account-store.ts'
import type { DatabaseTime } from './account/database-time.ts'
import type { QuotaAccount } from './account/quota-account.ts'
import type { OwedUnits } from './owed-units.ts'
import { accountOf, QuotaCounter } from './quota-counter.ts'
import {
  adjustAccount,
  fitsIn,
  type QuotaCharge,
  resetAccount,
  type TakenHold,
  takeFrom,
  undoHold,
  verdictOf,
} from './quota-take.ts'

export interface ExactQuotasOptions {
  readonly name: string
  readonly store: AccountStore
  readonly clock: Clock
  readonly time: DatabaseTime
  readonly owed: OwedUnits
  readonly opened: (counter: QuotaCounter) => () => void
  /** Percentages of the included units at which notices are written, in ascending order. */
  readonly thresholds: readonly number[]
  /** Called if the function that returns the time zone of a key fails. */
  readonly zoneFailed: (error: unknown) => void
}

/**
 * Quotas that call the database for each charge: quotas with holds, quotas too small to be leased, and adjustments of
 * all quotas.
 */
export class ExactQuotas implements Backend<Promise<Answer>> {
  readonly name: string
  readonly keepsCalendars = true
  readonly keepsHolds = true
  readonly algorithms = ['fixed-window'] as const
  readonly thresholds: readonly number[]
  readonly zoneFailed: (error: unknown) => void
  readonly #options: ExactQuotasOptions
  /** Adjustments that are under way or were completed recently, by idempotency key. */
  readonly #adjusting = new Map<string, Promise<Answer>>()
  /** Functions that cancel the timers which remove completed adjustments. */
  readonly #forgetting = new Set<() => void>()
  #isClosed = false

  constructor(options: ExactQuotasOptions) {
    this.name = options.name
    this.thresholds = options.thresholds
    this.zoneFailed = options.zoneFailed
    this.#options = options
  }

  /** Throws `SLUICE_BAD_POLICY` if the policy has no calendar, or if its plans have different calendars. */
  open(compiled: CompiledPolicy, name: string): QuotaCounter {
    const { policy, variants } = compiled
    if (!policy.calendar || variants) {
      const received = variants ? 'plans with different calendars' : 'a window'
      throw new SluiceError(
        'SLUICE_BAD_POLICY',
        `policy '${policy.name}': calendar: expected one calendar from quota() on ${this.name}, received ${received}`,
      )
    }
    const { store, clock } = this.#options
    store.connect()
    let closed = (): void => {}
    const counter = new QuotaCounter(this, compiled, name, () => closed())
    // the first look-up in a time zone takes up to 50 ms
    counter.terms.periods.warmUp(clock.wall())
    closed = this.#options.opened(counter)
    return counter
  }

  async takeAll(requested: readonly Charge[], moment?: Moment): Promise<Answer> {
    const charges = requested as readonly QuotaCharge[]
    if (charges.length === 1) return this.#take(charges[0], moment)
    const backend = {
      takeAll: ([charge]: readonly Charge[]) => this.#take(charge as QuotaCharge, moment),
      adjustAll: (refunds: readonly Charge[], takenAt: number, at?: Moment) => this.#refund(refunds, takenAt, at),
    }
    const parts: ChargePart[] = charges.map((charge, index) => ({ backend, indexes: [index], charges: [charge] }))
    return takeParts(parts, moment, (part) => this.peekAll(part.charges))
  }

  peekAll(requested: readonly Charge[]): Promise<Answer> {
    return this.#each(requested, (charge, account) => fitsIn(account, charge))
  }

  async adjustAll(requested: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    const id = moment?.idempotencyKey?.id
    if (id === undefined) return this.#adjust(requested, takenAt)
    const underWay = this.#adjusting.get(id) ?? this.#adjust(requested, takenAt)
    this.#adjusting.set(id, underWay)
    // repeated calls receive the same answer, also for a short time after it has arrived
    underWay.then(
      () => this.#forgetLater(id),
      () => this.#adjusting.delete(id),
    )
    return underWay
  }

  #forgetLater(id: string): void {
    if (this.#isClosed) return
    const stop = this.#options.clock.after(30_000, () => {
      this.#adjusting.delete(id)
      this.#forgetting.delete(stop)
    })
    this.#forgetting.add(stop)
  }

  close(): void {
    this.#isClosed = true
    for (const stop of this.#forgetting) stop()
  }

  async resetAll(keys: readonly CountedKey[]): Promise<void> {
    const { store } = this.#options
    await Promise.all(
      keys.map((target) => {
        const { key, counter } = target as CountedKey<QuotaCounter>
        return store.change(accountOf({ key, counter }), counter.termsOf(key), {
          apply: (account) => resetAccount(account.open(counter.limit)),
        })
      }),
    )
  }

  passed(charges: readonly Charge[], takenAt: number): void {
    const { time, owed } = this.#options
    for (const charge of charges) owed.add(charge as QuotaCharge, takenAt + time.offsetMs)
  }

  /** Always false: losses are detected and repaired for each key; see `recoveryOf`. */
  mayHaveLost(): boolean {
    return false
  }

  /** Always false: units taken after the caller stopped waiting are given back. */
  mayCountUnanswered(): boolean {
    return false
  }

  #take(charge: QuotaCharge, moment: Moment | undefined): Promise<Answer> {
    const { store, clock } = this.#options
    const { counter } = charge
    return new Promise((resolve, reject) => {
      let answer: Answer | undefined
      let isTaken = false
      let taken: TakenHold | undefined
      let isRejected = false
      const late = (): boolean => moment?.deadlineAt !== undefined && clock.now() >= moment.deadlineAt
      store.add(accountOf(charge), counter.termsOf(charge.key), {
        apply: (account) => {
          account.open(counter.limit)
          // the caller no longer waits, so nothing is spent
          isTaken = !late() && fitsIn(account, charge)
          taken = isTaken ? takeFrom(account, charge) : undefined
          answer = this.#answerOf([verdictOf(account, charge, isTaken)], account.now)
        },
        done: () => {
          isRejected = late()
          if (isRejected) reject(lateAnswer())
          else resolve(answer as Answer)
        },
        failed: (error) => {
          isRejected = true
          reject(error)
        },
        settled: (stands) => {
          if (stands && isRejected && isTaken) this.#giveBack(charge, answer as Answer, taken)
        },
      })
    })
  }

  /** Refunds a part of a request, later if the database does not reply. */
  async #refund(refunds: readonly Charge[], takenAt: number, moment?: Moment): Promise<Answer> {
    try {
      return await this.adjustAll(refunds, takenAt, moment)
    } catch (error) {
      // held units return when the hold is over
      for (const charge of refunds as readonly QuotaCharge[]) if (!charge.hold) this.#options.owed.add(charge, takenAt)
      throw error
    }
  }

  /** Undoes a take whose answer the caller has not received. */
  #giveBack(charge: QuotaCharge, { takenAt }: Answer, taken: TakenHold | undefined): void {
    const { owed, store } = this.#options
    if (taken) {
      store.add(accountOf(charge), charge.counter.termsOf(charge.key), {
        // the caller may be settling the earlier hold already
        isFirst: true,
        apply: (account) => undoHold(account, taken),
        done() {},
        // units that cannot be returned now return when the hold is over
        failed() {},
      })
    } else if (charge.cost > 0) owed.add({ ...charge, cost: -charge.cost }, takenAt)
  }

  #adjust(requested: readonly Charge[], takenAt: number): Promise<Answer> {
    const adjust = (charge: QuotaCharge, account: QuotaAccount): boolean => {
      adjustAccount(account, charge, takenAt)
      return true
    }
    // a retry under the same idempotency key must not count twice
    return this.#each(requested, adjust, true)
  }

  async #each(
    requested: readonly Charge[],
    apply: (charge: QuotaCharge, account: QuotaAccount) => boolean,
    certain = false,
  ): Promise<Answer> {
    const { store } = this.#options
    const charges = requested as readonly QuotaCharge[]
    const answers = await Promise.all(
      charges.map((charge) => {
        const { counter, key } = charge
        return store.change(accountOf(charge), counter.termsOf(key), {
          certain,
          apply: (account) => {
            const fits = apply(charge, account.open(counter.limit))
            return this.#answerOf([verdictOf(account, charge, fits)], account.now)
          },
        })
      }),
    )
    return answers.length === 1
      ? answers[0]
      : mergedAnswer(
          charges.map((_, index) => ({ indexes: [index] })),
          answers,
        )
  }

  #answerOf(verdicts: Answer['verdicts'], takenAt: number): Answer {
    return { verdicts, takenAt, counted: true, source: this.name }
  }
}

function lateAnswer(): Error {
  return Object.assign(new Error('the quota database replied after the deadline'), { code: 'LATE' })
}
