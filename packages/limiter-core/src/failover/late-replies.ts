import { causeOf, mayHaveCounted } from '../backend/backend-failure.ts'
import { plainCharge, undoneCharge } from '../backend/plain-charge.ts'
import type { BackendVerdict, Charge } from '../contracts.ts'
import { hasDenial } from '../decision/verdict.ts'
import { passedOf } from './admitted-units.ts'
import type { BackendHealth } from './backend-health.ts'
import type { FailoverCharge } from './failover-counter.ts'

/**
 * Handles the reply, if there is one after all, to a take that the failure rule decided with `verdicts`: it shows
 * whether the backend has counted the units, and the usage that was `sent` with the charges. The count cannot show it,
 * because other processes take units too. If the connection broke after the deadline, the units count as not counted:
 * they may then count twice, and are never missing. Units that the call holds are returned.
 */
export function resolveLater<T extends { readonly takenAt: number }>(
  { mirror, owed }: BackendHealth,
  reply: Promise<T>,
  verdictsOf: (reply: T) => readonly BackendVerdict[],
  charges: readonly FailoverCharge[],
  verdicts: readonly BackendVerdict[],
  sent: readonly Pick<Charge, 'known'>[],
): void {
  const { clock } = mirror
  const decidedAt = clock.now()
  const isTaken = passedOf(charges, verdicts)
  const resolve = (late: readonly BackendVerdict[] | undefined, takenAt = 0): void => {
    for (const [index, charge] of charges.entries()) {
      const isCounted = late?.[index].allowed === true && !hasDenial(late)
      const units = isTaken[index] && !charge.hold ? Math.max(0, plainCharge(charge).cost) : 0
      mirror.resolve(charge, sent[index]?.known, units, isCounted)
      if (!charge.hold || !isCounted) continue
      const undone = { ...undoneCharge(charge, takenAt), counter: charge.counter }
      owed.addAdjustment({ charge: undone, takenAt, attempts: 0, moved: 0 })
    }
  }
  const failed = (error: unknown): void => {
    const isBroken = causeOf(error) === 'CONNECTION' && clock.now() - decidedAt >= 1
    if (isBroken || !mayHaveCounted(error)) resolve(undefined)
  }
  // one `then`: a reply that was received later, in the same packet, must not be handled before
  reply.then((late) => {
    try {
      resolve(verdictsOf(late), late.takenAt)
    } catch (error) {
      failed(error)
    }
  }, failed)
}
