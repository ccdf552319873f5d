import {
  type Answer,
  allOf,
  andThen,
  type Backend,
  type BackendVerdict,
  ChargeVerdict,
  type Clock,
  type MaybePromise,
  type Moment,
  type PolicyVerdict,
  withFund,
} from '@sluice/limiter-core/backend'
import { leaseVerdict } from './charge-outcome.ts'
import { LEASE_GRACE_FACTOR, type LeaseTerms, leaseMsOf } from './lease-ledger.ts'
import type { LeaseTable } from './lease-table.ts'
import { exactCharge, type LeasedCharge } from './leased-counter.ts'

/**
 * Adjusts takes of leased keys. If the take has not been reported to the ledger yet, the units are taken from or
 * returned to the lease; otherwise the ledger is adjusted.
 */
export class LeasedAdjustments {
  readonly #table: LeaseTable
  readonly #exact: Backend
  readonly #terms: LeaseTerms
  readonly #clock: Clock

  constructor(table: LeaseTable, exact: Backend, terms: LeaseTerms, clock: Clock) {
    this.#table = table
    this.#exact = exact
    this.#terms = terms
    this.#clock = clock
  }

  adjust(charges: readonly LeasedCharge[], takenAt: number, moment?: Moment): MaybePromise<PolicyVerdict[]> {
    const now = this.#clock.now()
    const adjustsLease = (charge: LeasedCharge): boolean =>
      // the ledger must receive the usage that the caller knows
      !charge.known && this.#table.find(charge)?.move(charge.cost, takenAt - this.#table.offsetMs(charge), now) === true
    const remote = charges.filter((charge) => !adjustsLease(charge))
    const local = (charge: LeasedCharge): PolicyVerdict =>
      leaseVerdict(charge, this.#table.of(charge, now), 'fits', now)
    if (remote.length === 0) return charges.map(local)
    const answers = allOf(remote.map((charge) => this.#adjustAtLedger(charge, takenAt, moment)))
    return andThen(answers, (all) =>
      charges.map((charge) => {
        const at = remote.indexOf(charge)
        return at < 0 ? local(charge) : this.#adjusted(charge, all[at].verdicts[0])
      }),
    )
  }

  /** Refunds a take at the ledger. If the call fails, the units stay charged. */
  refund(charge: LeasedCharge, takenAt: number): void {
    const refund = this.#adjustAtLedger({ ...charge, cost: -charge.cost }, takenAt, undefined)
    Promise.resolve(refund).catch(() => undefined)
  }

  /** Adjusts a take at the ledger after a pending call, which may report the take. */
  #adjustAtLedger(charge: LeasedCharge, takenAt: number, moment: Moment | undefined): MaybePromise<Answer> {
    const queue = this.#table.find(charge)
    const { compiled } = charge.counter
    // the ledger charges a take up to one lease late, and the adjustment must not be dated before that; takes of a
    // calendar are charged to the period of their lease
    const isLate = charge.cost > 0 && !compiled.policy.calendar
    const lagMs = isLate ? leaseMsOf(compiled, this.#terms) * LEASE_GRACE_FACTOR : 0
    return andThen(queue?.settled(), () => this.#exact.adjustAll([exactCharge(charge)], takenAt + lagMs, moment))
  }

  #adjusted(charge: LeasedCharge, verdict: BackendVerdict): PolicyVerdict {
    const lease = this.#table.find(charge)?.lease
    lease?.view.forgetDenial()
    const now = this.#clock.now()
    const known = lease ? Math.max(0, lease.remaining(now) - charge.cost) : verdict.remaining
    const remaining = Math.min(verdict.remaining, known)
    const { policy, shadow, resetAfterMs, availableAfterMs, fund } = verdict
    const growsMs = availableAfterMs || lease?.view.availableAfterMs(remaining, 0, now)
    return withFund(new ChargeVerdict(policy, shadow, remaining, 0, resetAfterMs, growsMs), fund)
  }
}
