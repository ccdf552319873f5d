import {
  type Answer,
  andThen,
  type Backend,
  type Charge,
  type Clock,
  type CountedKey,
  type Decision,
  type MaybePromise,
  type Moment,
  type PolicyVerdict,
  type RequestBackend,
  RequestDecision,
  SourcedDecision,
  withFund,
} from '@sluice/limiter-core/backend'
import { type Fit, fitOf, keptCharges, MISS, type Outcome, outcomeOf, verdictOf } from './charge-outcome.ts'
import type { LeaseTerms } from './lease-ledger.ts'
import type { LeaseQueue } from './lease-queue.ts'
import type { LeaseTable } from './lease-table.ts'
import { LeasedAdjustments } from './leased-adjustments.ts'
import { exactCharge, type LeasedCharge, type LeasedKey } from './leased-counter.ts'
import type { UnleasedTakes } from './unleased-takes.ts'

export interface LeasedChargesDeps {
  readonly name: string
  readonly table: LeaseTable
  readonly exact: Backend
  readonly terms: LeaseTerms
  readonly clock: Clock
  /** Charges rarely used keys directly. Without it, every key is leased. */
  readonly unleased: UnleasedTakes | undefined
}

/** Takes, peeks and adjusts charges of leased policies. Synchronous if leases and remembered denials suffice. */
export class LeasedCharges implements RequestBackend {
  readonly #name: string
  readonly #table: LeaseTable
  readonly #exact: Backend
  readonly #adjustments: LeasedAdjustments
  readonly #clock: Clock
  readonly #unleased: UnleasedTakes | undefined

  constructor({ name, table, exact, terms, clock, unleased }: LeasedChargesDeps) {
    this.#name = name
    this.#table = table
    this.#exact = exact
    this.#adjustments = new LeasedAdjustments(table, exact, terms, clock)
    this.#clock = clock
    this.#unleased = unleased
  }

  takeAll(requested: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const charges = requested as readonly LeasedCharge[]
    const now = this.#clock.now()
    const outcomes = charges.map((charge) => outcomeOf(charge, this.#leaseFor(charge, now), now))
    if (outcomes.some(({ fit }) => fit === 'miss')) return this.#askAll(charges, outcomes, moment, now)
    return this.#takeFitting(charges, outcomes, now)
  }

  /** Takes one enforced charge. Synchronous and without arrays if its lease or a remembered denial suffices. */
  takeCharge(charge: LeasedCharge, moment?: Moment): MaybePromise<Decision> {
    const now = this.#clock.now()
    const queue = this.#leaseFor(charge, now)
    const fit = queue ? fitOf(charge, queue, now) : 'miss'
    if (!queue || fit === 'miss') return this.#askOne(charge, queue, moment, now)
    if (fit === 'fits') this.#spend(queue, charge.cost, now)
    const { view } = queue.lease
    const waitMs = fit === 'fits' ? 0 : view.retryAfterMs(charge.cost, now)
    const takenAt = now + (view.offsetMs ?? this.#table.offsetMs(charge))
    const { policy } = charge.counter.compiled
    const remaining = queue.lease.remaining(now)
    const growsMs = view.availableAfterMs(remaining, waitMs, now)
    const resetAfterMs = view.resetAfterMs(now)
    const decision = new SourcedDecision(this.#name, policy, remaining, waitMs, resetAfterMs, takenAt, growsMs)
    return view.fund ? withFund(decision, view.fund) : decision
  }

  /** Takes all charges if they fit into units that this process holds; returns undefined otherwise. */
  takeHeld(charges: readonly LeasedCharge[]): Answer | undefined {
    const now = this.#clock.now()
    const outcomes = charges.map((charge) => outcomeOf(charge, this.#heldFor(charge), now))
    return outcomes.every(({ fit }) => fit === 'fits') ? this.#takeFitting(charges, outcomes, now) : undefined
  }

  peekAll(requested: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const charges = requested as readonly LeasedCharge[]
    const now = this.#clock.now()
    const looked = Promise.all(
      charges.map((charge) => this.#wait(charge, this.#table.of(charge, now), moment, now, false)),
    )
    return looked.then((outcomes) => {
      const answer = this.#answer(charges, outcomes, this.#clock.now())
      if (!charges.some(({ cost }) => cost === 0)) return answer
      const verdicts = answer.verdicts.map((verdict, index) => {
        const lease = charges[index].cost === 0 ? outcomes[index].queue?.lease : undefined
        return lease ? Object.assign(verdict, { spent: lease.spentUnits(this.#clock.now()) }) : verdict
      })
      return { ...answer, verdicts }
    })
  }

  adjustAll(requested: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    const charges = requested as readonly LeasedCharge[]
    const now = this.#clock.now()
    return andThen(this.#adjustments.adjust(charges, takenAt, moment), (verdicts) => this.#own(charges, verdicts, now))
  }

  resetAll(requested: readonly CountedKey[]): MaybePromise<void> {
    const keys = requested as readonly LeasedKey[]
    const exactKeys = keys.map(({ key, counter }) => ({ key, counter: counter.exact }))
    // pending calls report units that were spent before the reset
    const settled = keys.flatMap((target) => this.#table.find(target)?.settled() ?? [])
    for (const target of keys) this.#table.forget(target)
    if (settled.length === 0) return this.#exact.resetAll(exactKeys)
    return Promise.all(settled).then(() => this.#exact.resetAll(exactKeys))
  }

  /** Returns the lease to take a charge from; undefined if the key is used too rarely to be leased. */
  #leaseFor(charge: LeasedCharge, now: number): LeaseQueue | undefined {
    const held = this.#table.find(charge)
    if (held?.lease.counter === charge.counter) return held
    return !held && this.#unleased?.shouldChargeDirectly(charge, now) ? undefined : this.#table.of(charge, now)
  }

  /** Returns the current lease of a key, unless it belongs to another plan that has a different limit. */
  #heldFor(charge: LeasedCharge): LeaseQueue | undefined {
    const held = this.#table.find(charge)
    return held?.lease.counter === charge.counter || held?.lease.hasSameLimitAs(charge.counter.compiled)
      ? held
      : undefined
  }

  #takeFitting(charges: readonly LeasedCharge[], outcomes: readonly Outcome[], now: number): Answer {
    const spends = keptCharges(charges, outcomes)
    for (const [index, { queue }] of outcomes.entries()) {
      if (queue && spends[index]) this.#spend(queue, charges[index].cost, now)
    }
    return this.#answer(charges, outcomes, now)
  }

  #askOne(
    charge: LeasedCharge,
    held: LeaseQueue | undefined,
    moment: Moment | undefined,
    now: number,
  ): Promise<Decision> {
    const askLedger = (): Promise<Decision> => {
      const queue = held ?? this.#table.of(charge, this.#clock.now())
      return this.#askAll([charge], [{ fit: 'miss', queue }], moment, now).then((answer) => new RequestDecision(answer))
    }
    return held || !this.#unleased ? askLedger() : this.#unleased.take(exactCharge(charge), moment, now, askLedger)
  }

  /** Takes each charge that fits. If an enforced charge does not fit or the ledger does not reply, all are refunded. */
  async #askAll(
    charges: readonly LeasedCharge[],
    held: readonly Outcome[],
    moment: Moment | undefined,
    takenAt: number,
  ): Promise<Answer> {
    const settled = await Promise.allSettled(
      charges.map((charge, index) => this.#wait(charge, held[index].queue, moment, takenAt, true)),
    )
    const failed = settled.find((one) => one.status === 'rejected')
    const outcomes = settled.map((one) => (one.status === 'fulfilled' ? one.value : MISS))
    const stands = failed ? [] : keptCharges(charges, outcomes)
    const now = this.#clock.now()
    for (const [index, charge] of charges.entries()) {
      if (outcomes[index].fit === 'fits' && !stands[index]) this.#refund(charge, outcomes[index], now)
    }
    if (failed) throw failed.reason
    return this.#answer(charges, outcomes, now)
  }

  async #wait(
    charge: LeasedCharge,
    held: LeaseQueue | undefined,
    moment: Moment | undefined,
    now: number,
    spends: boolean,
  ): Promise<Outcome> {
    const askLedger = async (): Promise<Outcome> => {
      const queue = held ?? this.#table.of(charge, this.#clock.now())
      return { fit: await this.#waitForLease(charge, queue, moment, spends), queue }
    }
    if (held || !this.#unleased) return askLedger()
    const taken = await this.#unleased.take(exactCharge(charge), moment, now, askLedger)
    return 'fit' in taken ? taken : { fit: taken.allowed ? 'fits' : 'denied', decision: taken }
  }

  #waitForLease(charge: LeasedCharge, queue: LeaseQueue, moment: Moment | undefined, spends: boolean): Promise<Fit> {
    const { cost, known } = charge
    const now = this.#clock.now()
    const canFit = cost <= queue.lease.view.maxCost(now)
    return new Promise((resolve, fail) => {
      const answer = (fits: boolean): void => resolve(fits && canFit ? 'fits' : 'denied')
      if (spends && !known && queue.lease.fits(cost, now)) {
        queue.lease.spend(cost)
        answer(true)
      } else {
        const deadlineAt = moment?.deadlineAt ?? now + queue.lease.leaseMs
        queue.wait({ cost, spends: spends && canFit, deadlineAt, known, answer, fail })
      }
    })
  }

  #spend(queue: LeaseQueue, cost: number, now: number): void {
    queue.lease.spend(cost)
    if (queue.lease.isLow && !this.#table.failing) queue.prefetch(now + queue.lease.leaseMs)
  }

  #refund(charge: LeasedCharge, { queue, decision }: Outcome, now: number): void {
    if (queue?.move(-charge.cost, now, now)) return
    // the take has been reported in the meantime, or was made without a lease
    this.#adjustments.refund(charge, decision?.takenAt ?? now + this.#table.offsetMs(charge))
  }

  #answer(charges: readonly LeasedCharge[], outcomes: readonly Outcome[], now: number): Answer {
    const stands = keptCharges(charges, outcomes)
    const verdicts = charges.map((charge, index) => verdictOf(charge, outcomes[index], stands[index], now))
    return this.#own(charges, verdicts, now, outcomes)
  }

  /** Creates an answer whose times are ledger times. With several charges, each has the time of its ledger. */
  #own(
    charges: readonly LeasedCharge[],
    verdicts: readonly PolicyVerdict[],
    now: number,
    outcomes: readonly Outcome[] = [],
  ): Answer {
    const takenAts = charges.map((charge, at) => outcomes[at]?.decision?.takenAt ?? now + this.#table.offsetMs(charge))
    const answer = { verdicts, takenAt: takenAts[0], counted: true, source: this.#name }
    return charges.length === 1 ? answer : { ...answer, takenAts }
  }
}
