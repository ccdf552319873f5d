import { causeOf, mayHaveCounted } from '../backend/backend-failure.ts'
import { plainCharge } from '../backend/plain-charge.ts'
import type { BackendVerdict, Charge, Clock } from '../contracts.ts'
import { hasDenial } from '../decision/verdict.ts'
import { passedOf } from './admitted-units.ts'
import type { FailoverCharge } from './failover-counter.ts'
import type { Mirror } from './mirror.ts'

/**
 * Handles the reply, if there is one after all, to a take that the failure rule decided with `verdicts`: it shows
 * whether the backend has counted the units, and the usage that was `sent` with the charges. Their number cannot show it, because other processes take units too.
 *
 * If the connection broke after the deadline had passed without a reply, the units are not counted as far as is known: a
 * backend that did not answer for so long hardly executed the call before its deadline. Units may then count twice, and
 * are never missing.
 */
export function resolveLater(
  reply: Promise<readonly BackendVerdict[]>,
  charges: readonly FailoverCharge[],
  verdicts: readonly BackendVerdict[],
  sent: readonly Pick<Charge, 'known'>[],
  { mirror, clock }: { readonly mirror: Mirror; readonly clock: Pick<Clock, 'now'> },
): void {
  const isTaken = passedOf(charges, verdicts)
  const resolve = (isCounted: (index: number) => boolean): void => {
    for (const [index, charge] of charges.entries()) {
      const units = isTaken[index] ? Math.max(0, plainCharge(charge).cost) : 0
      mirror.resolve(charge, { units, isCounted: isCounted(index), known: sent[index]?.known }, clock.now())
    }
  }
  const answered = (late: readonly BackendVerdict[]): void =>
    resolve((index) => !hasDenial(late) && late[index].allowed === true)
  const decidedAt = clock.now()
  const failed = (error: unknown): void => {
    const isBroken = causeOf(error) === 'CONNECTION' && clock.now() - decidedAt >= 1
    if (isBroken || !mayHaveCounted(error)) resolve(() => false)
  }
  reply.then(answered, failed)
}
