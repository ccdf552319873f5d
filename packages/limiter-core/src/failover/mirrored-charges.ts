import { plainCharge } from '../backend/plain-charge.ts'
import type { Answer, BackendVerdict } from '../contracts.ts'
import { ChargeVerdict } from '../decision/verdict.ts'
import type { FailoverCharge, MirrorCharge } from './failover-counter.ts'
import { OUTAGE_RETRY_MS } from './fixed-rule.ts'
import type { Basis } from './own-units.ts'

/** Returns a charge with the counter of the mirror. Units that an unanswered call holds are returned by its late answer. */
export function mirroredCharge(charge: FailoverCharge, basis: Basis): MirrorCharge {
  const { key, counter, advisory, known } = charge
  const { cost } = plainCharge(charge)
  counter.mirror.compiled.basis = charge.hold && basis === 'unsure' ? 'uncounted' : basis
  return { key, counter: counter.mirror, cost, advisory: advisory === true, known }
}

/** Returns the units by which the last adjustment changed its key in the mirror. */
export function adjustedUnitsOf({ counter }: FailoverCharge): number {
  return counter.mirror.compiled.moved
}

/** Returns the part of local refunds that concerns units already reported to the backend, and clears it. */
export function takeReportedRefunds(charges: readonly FailoverCharge[]): readonly FailoverCharge[] {
  return charges.flatMap((charge) => {
    const { own } = charge.counter.mirror.compiled
    const units = Math.floor(own.returned)
    own.returned = 0
    return units > 0 ? [{ ...charge, cost: -units }] : []
  })
}

/** Returns finite waits of costs that only exceed the share of this process: they may fit after the outage. */
export function withFiniteWaits(charges: readonly MirrorCharge[], answer: Answer): Answer {
  if (charges.every(({ counter: { compiled } }) => compiled.capacity === compiled.fullCapacity)) return answer
  return { ...answer, verdicts: answer.verdicts.map((verdict, index) => withFiniteWait(verdict, charges[index])) }
}

function withFiniteWait(verdict: BackendVerdict, { counter, cost }: MirrorCharge): BackendVerdict {
  const { policy, shadow, remaining, retryAfterMs, resetAfterMs, availableAfterMs = retryAfterMs } = verdict
  if (retryAfterMs !== Number.POSITIVE_INFINITY || cost > counter.compiled.fullCapacity) return verdict
  const growsMs = Math.min(availableAfterMs, OUTAGE_RETRY_MS)
  return new ChargeVerdict(policy, shadow, remaining, OUTAGE_RETRY_MS, resetAfterMs, growsMs)
}
