import { causeOf, mayHaveCounted } from '../backend/backend-failure.ts'
import { plainCharge } from '../backend/plain-charge.ts'
import type { BackendVerdict, Charge } from '../contracts.ts'
import { hasDenial } from '../decision/verdict.ts'
import { passedOf } from './admitted-units.ts'
import type { FailoverCharge } from './failover-counter.ts'
import type { Mirror } from './mirror.ts'

/**
 * Handles the reply, if there is one after all, to a take that the failure rule decided with `verdicts`: it shows
 * whether the backend has counted the units, and the usage that was `sent` with the charges. The count cannot show it,
 * because other processes take units too. If the connection broke after the deadline, the units count as not counted:
 * they may then count twice, and are never missing.
 */
export function resolveLater<T>(
  mirror: Mirror,
  reply: Promise<T>,
  verdictsOf: (reply: T) => readonly BackendVerdict[],
  charges: readonly FailoverCharge[],
  verdicts: readonly BackendVerdict[],
  sent: readonly Pick<Charge, 'known'>[],
): void {
  const { clock } = mirror
  const decidedAt = clock.now()
  const isTaken = passedOf(charges, verdicts)
  const resolve = (late: readonly BackendVerdict[] | undefined): void => {
    for (const [index, charge] of charges.entries()) {
      const units = isTaken[index] ? Math.max(0, plainCharge(charge).cost) : 0
      mirror.resolve(charge, sent[index]?.known, units, late?.[index].allowed === true && !hasDenial(late))
    }
  }
  const failed = (error: unknown): void => {
    const isBroken = causeOf(error) === 'CONNECTION' && clock.now() - decidedAt >= 1
    if (isBroken || !mayHaveCounted(error)) resolve(undefined)
  }
  // one `then`: a reply that was received later, in the same packet, must not be handled before
  reply.then((late) => {
    try {
      resolve(verdictsOf(late))
    } catch (error) {
      failed(error)
    }
  }, failed)
}
