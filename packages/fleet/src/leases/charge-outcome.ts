import {
  type Charge,
  ChargeVerdict,
  type PolicyVerdict,
  type SoleDecision,
  withFund,
} from '@sluice/limiter-core/backend'
import type { LeaseQueue } from './lease-queue.ts'

/** Whether a charge fits. `miss`: unknown until the ledger replies. */
export type Fit = 'fits' | 'denied' | 'miss'

/** The result of a charge: taken from a lease, or decided without one. */
export interface Outcome {
  readonly fit: Fit
  readonly queue?: LeaseQueue
  readonly decision?: SoleDecision
}

export const MISS: Outcome = { fit: 'miss' }

export function outcomeOf(charge: Charge, queue: LeaseQueue | undefined, now: number): Outcome {
  return queue ? { fit: fitOf(charge, queue, now), queue } : MISS
}

export function fitOf({ cost, known }: Charge, { lease }: LeaseQueue, now: number): Fit {
  // the ledger must receive the usage that the caller knows
  if (known) return 'miss'
  if (lease.fits(cost, now)) return 'fits'
  return lease.view.denied(cost, now) ? 'denied' : 'miss'
}

/** Returns for each charge whether its units are kept: all enforced charges or none, and advisory ones if all fit. */
export function keptCharges(charges: readonly Charge[], outcomes: readonly Outcome[]): boolean[] {
  const denied = charges.some(({ advisory }, index) => !advisory && outcomes[index].fit === 'denied')
  const allFit = outcomes.every(({ fit }) => fit === 'fits')
  return charges.map(({ advisory }) => allFit || (!denied && !advisory))
}

/** `stands`: whether the units are kept, and not returned because another charge was denied. */
export function verdictOf(charge: Charge, outcome: Outcome, stands: boolean, now: number): PolicyVerdict {
  const { fit, queue, decision } = outcome
  if (!decision) return leaseVerdict(charge, queue as LeaseQueue, fit, now)
  const { counter, cost, advisory } = charge
  const { compiled } = counter
  const { retryAfterMs, resetAfterMs, availableAfterMs } = decision
  const remaining = decision.remaining + (fit === 'fits' && !stands ? cost : 0)
  const growsMs = remaining >= compiled.capacity ? 0 : availableAfterMs
  const isShadow = advisory === true
  const verdict = new ChargeVerdict(compiled.policy, isShadow, remaining, retryAfterMs, resetAfterMs, growsMs)
  return withFund(verdict, decision.binding.fund)
}

/** Returns the verdict for a charge whose fit is known, by the lease and the last reply of the ledger. */
export function leaseVerdict(
  { counter: { compiled }, cost, advisory }: Charge,
  { lease }: LeaseQueue,
  fit: Fit,
  now: number,
): PolicyVerdict {
  const { view } = lease
  const waitMs = fit === 'fits' ? 0 : view.retryAfterMs(cost, now)
  const remaining = lease.remaining(now)
  const growsMs = view.availableAfterMs(remaining, waitMs, now)
  const resetAfterMs = view.resetAfterMs(now)
  const verdict = new ChargeVerdict(compiled.policy, advisory === true, remaining, waitMs, resetAfterMs, growsMs)
  return withFund(verdict, view.fund)
}
