import type { Answer, Backend, Charge, Clock, Decision, MaybePromise, Moment, PolicyVerdict } from '../contracts.ts'
import { allOf, andThen } from '../maybe-promise.ts'
import { SourcedDecision } from '../sourced-decision.ts'
import { ChargeVerdict, RequestDecision } from '../verdict.ts'
import type { AskedLease } from './asked-lease.ts'
import { GRACE, type LeaseTerms, leaseMsOf } from './lease-ledger.ts'
import type { LeaseTable } from './lease-table.ts'

type Target = Pick<Charge, 'key' | 'step' | 'count'>

/** Whether a charge fits: a miss is not known before the ledger was asked. */
type Fit = 'fits' | 'denied' | 'miss'

/** Charges that are leased, every one: answered at once where leases and remembered denials tell all. */
export class LeasedCharges implements Backend {
  readonly name: string
  readonly #table: LeaseTable
  readonly #exact: Backend
  readonly #terms: LeaseTerms
  readonly #clock: Clock

  constructor(name: string, table: LeaseTable, exact: Backend, terms: LeaseTerms, clock: Clock) {
    this.name = name
    this.#terms = terms
    this.#table = table
    this.#exact = exact
    this.#clock = clock
  }

  take(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const now = this.#clock.now()
    const held = charges.map((charge) => this.#table.of(charge, now))
    const fits = charges.map((charge, index) => fitOf(charge, held[index], now))
    if (fits.includes('miss')) return this.#askAll(charges, held, moment, now)
    return this.#takeFitting(charges, held, fits, now)
  }

  /** `take` of one enforced charge: at once, and without a list, where its lease or a remembered denial tells. */
  takeCharge(charge: Charge, moment?: Moment): MaybePromise<Decision> {
    const now = this.#clock.now()
    const asked = this.#table.of(charge, now)
    const fit = fitOf(charge, asked, now)
    if (fit === 'miss') {
      return this.#askAll([charge], [asked], moment, now).then((answer) => new RequestDecision(answer))
    }
    if (fit === 'fits') this.#spend(asked, charge.cost, now)
    const { view } = asked.lease
    const waitMs = fit === 'fits' ? 0 : view.retryAfterMs(charge.cost, now)
    const takenAt = now + (view.offsetMs ?? this.#table.offsetMs(charge))
    const { policy } = charge.step
    return new SourcedDecision(this.name, policy, asked.lease.remaining(now), waitMs, view.resetAfterMs(now), takenAt)
  }

  /** `take` where all of them fit into what is held. */
  takeHeld(charges: readonly Charge[]): Answer | undefined {
    const now = this.#clock.now()
    const held = charges.flatMap((charge) => this.#table.find(charge) ?? [])
    if (held.length < charges.length) return undefined
    const fits = charges.map((charge, index) => fitOf(charge, held[index], now))
    return fits.every((fit) => fit === 'fits') ? this.#takeFitting(charges, held, fits, now) : undefined
  }

  peek(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const now = this.#clock.now()
    const held = charges.map((charge) => this.#table.of(charge, now))
    const asked = Promise.all(charges.map((charge, index) => this.#wait(charge, held[index], moment, now, false)))
    return asked.then((fits) => this.#answer(charges, held, fits, this.#clock.now()))
  }

  /** Where the take is not yet told to the ledger it is the lease that units come from and go to. */
  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    const now = this.#clock.now()
    const isNear = (charge: Charge): boolean =>
      // what the caller knows must reach the ledger
      !charge.known &&
      this.#table.find(charge)?.lease.move(charge.cost, takenAt - this.#table.offsetMs(charge), now) === true
    const far = charges.filter((charge) => !isNear(charge))
    const near = (charge: Charge): PolicyVerdict => verdictOf(charge, this.#table.of(charge, now), 'fits', now)
    if (far.length === 0) return this.#own(charges, charges.map(near), now)
    const answers = allOf(far.map((charge) => this.#adjustAtLedger(charge, takenAt, moment)))
    return andThen(answers, (all) => {
      const verdicts = charges.map((charge) => {
        const at = far.indexOf(charge)
        return at < 0 ? near(charge) : this.#adjusted(charge, all[at].verdicts[0])
      })
      return this.#own(charges, verdicts, now)
    })
  }

  reset(targets: readonly Target[]): MaybePromise<void> {
    for (const target of targets) this.#table.forget(target)
    return this.#exact.reset(targets)
  }

  #takeFitting(charges: readonly Charge[], held: readonly AskedLease[], fits: readonly Fit[], now: number): Answer {
    const spends = standing(charges, fits)
    for (const [index, asked] of held.entries()) {
      if (spends[index]) this.#spend(asked, charges[index].cost, now)
    }
    return this.#answer(charges, held, fits, now)
  }

  /** Takes what it can of each, and gives all of it back where one does not fit, or nobody answers. */
  async #askAll(
    charges: readonly Charge[],
    held: readonly AskedLease[],
    moment: Moment | undefined,
    takenAt: number,
  ): Promise<Answer> {
    const asked = await Promise.allSettled(
      charges.map((charge, index) => this.#wait(charge, held[index], moment, takenAt, true)),
    )
    const failed = asked.find((one) => one.status === 'rejected')
    const fits = asked.map((one): Fit => (one.status === 'fulfilled' ? one.value : 'miss'))
    const stands = failed ? [] : standing(charges, fits)
    const now = this.#clock.now()
    for (const [index, charge] of charges.entries()) {
      if (fits[index] === 'fits' && !stands[index]) this.#giveBack(charge, held[index], now)
    }
    if (failed) throw failed.reason
    return this.#answer(charges, held, fits, now)
  }

  #wait(charge: Charge, asked: AskedLease, moment: Moment | undefined, now: number, spends: boolean): Promise<Fit> {
    const { cost, known, step } = charge
    const deadlineAt = moment?.deadlineAt ?? now + asked.lease.leaseMs
    const canFit = cost <= step.capacity
    return new Promise((resolve, fail) => {
      const answer = (fits: boolean): void => resolve(fits && canFit ? 'fits' : 'denied')
      if (spends && !known && asked.lease.fits(cost, now)) {
        asked.lease.spend(cost)
        answer(true)
      } else asked.wait({ cost, spends: spends && canFit, deadlineAt, known, answer, fail })
    })
  }

  #spend(asked: AskedLease, cost: number, now: number): void {
    asked.lease.spend(cost)
    if (asked.lease.isLow && !this.#table.failing) asked.prefetch(now + asked.lease.leaseMs)
  }

  #giveBack(charge: Charge, { lease }: AskedLease, now: number): void {
    if (lease.move(-charge.cost, now, now)) return
    // told meanwhile; what cannot be taken back stays charged
    const takenAt = now + this.#table.offsetMs(charge)
    const refund = this.#adjustAtLedger({ ...charge, cost: -charge.cost }, takenAt, undefined)
    Promise.resolve(refund).catch(() => undefined)
  }

  /** Not before the ledger was told of the take. */
  #adjustAtLedger(charge: Charge, takenAt: number, moment: Moment | undefined): MaybePromise<Answer> {
    const asked = this.#table.find(charge)
    // a take is charged up to a lease after it was made: a charge to it must not fall into what was before
    const lagMs = charge.cost > 0 ? leaseMsOf(charge.step, this.#terms) * GRACE : 0
    return andThen(asked?.told(), () => this.#exact.adjust([charge], takenAt + lagMs, moment))
  }

  #answer(charges: readonly Charge[], held: readonly AskedLease[], fits: readonly Fit[], now: number): Answer {
    return this.#own(
      charges,
      charges.map((charge, index) => verdictOf(charge, held[index], fits[index], now)),
      now,
    )
  }

  #adjusted(charge: Charge, verdict: PolicyVerdict): PolicyVerdict {
    const lease = this.#table.find(charge)?.lease
    lease?.view.hope()
    const known = lease ? Math.max(0, lease.remaining(this.#clock.now()) - charge.cost) : verdict.remaining
    const remaining = Math.min(verdict.remaining, known)
    return new ChargeVerdict(verdict.policy, verdict.shadow, remaining, 0, verdict.resetAfterMs)
  }

  /** An answer by the clock of the ledger; of several charges each by that of its own. */
  #own(charges: readonly Charge[], verdicts: readonly PolicyVerdict[], now: number): Answer {
    const takenAt = now + this.#table.offsetMs(charges[0])
    const answer = { verdicts, takenAt, counted: true, source: this.name }
    if (charges.length === 1) return answer
    return { ...answer, takenAts: charges.map((charge) => now + this.#table.offsetMs(charge)) }
  }
}

function fitOf({ cost, known }: Charge, { lease }: AskedLease, now: number): Fit {
  // what the caller knows must reach the ledger
  if (known) return 'miss'
  if (lease.fits(cost, now)) return 'fits'
  return lease.view.denied(cost, now) ? 'denied' : 'miss'
}

/** Which charges are taken: all that are enforced or none, advisory ones where all fit. */
function standing(charges: readonly Charge[], fits: readonly Fit[]): boolean[] {
  const denied = charges.some(({ advisory }, index) => !advisory && fits[index] === 'denied')
  const allFit = fits.every((fit) => fit === 'fits')
  return charges.map(({ advisory }) => allFit || (!denied && !advisory))
}

function verdictOf(charge: Charge, { lease }: AskedLease, fit: Fit, now: number): PolicyVerdict {
  const waitMs = fit === 'fits' ? 0 : lease.view.retryAfterMs(charge.cost, now)
  return new ChargeVerdict(
    charge.step.policy,
    charge.advisory === true,
    lease.remaining(now),
    waitMs,
    lease.view.resetAfterMs(now),
  )
}
