import { mayHaveCounted } from '../backend/backend-failure.ts'
import { plainCharge } from '../backend/plain-charge.ts'
import type { BackendVerdict, Clock } from '../contracts.ts'
import { hasDenial } from '../decision/verdict.ts'
import { passedOf } from './admitted-units.ts'
import type { FailoverCharge } from './failover-counter.ts'
import type { Mirror } from './mirror.ts'

/**
 * Handles the reply, if there is one after all, to a take that the failure rule decided with `verdicts`: it shows
 * whether the backend has counted the units. Their number cannot show it, because other processes take units too.
 */
export function resolveLater(
  reply: Promise<readonly BackendVerdict[]>,
  charges: readonly FailoverCharge[],
  verdicts: readonly BackendVerdict[],
  { mirror, clock }: { readonly mirror: Mirror; readonly clock: Pick<Clock, 'now'> },
): void {
  const isTaken = passedOf(charges, verdicts)
  const resolve = (isCounted: (index: number) => boolean): void => {
    for (const [index, charge] of charges.entries()) {
      const { cost } = plainCharge(charge)
      if (isTaken[index] && cost > 0) mirror.resolve(charge, cost, isCounted(index), clock.now())
    }
  }
  const answered = (late: readonly BackendVerdict[]): void =>
    resolve((index) => !hasDenial(late) && late[index].allowed === true)
  const failed = (error: unknown): void => {
    if (!mayHaveCounted(error)) resolve(() => false)
  }
  reply.then(answered, failed)
}
