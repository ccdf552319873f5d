import type { Charge } from '../contracts.ts'

/** Returns a charge for a count without holds: the units by which it changes what its key has used. */
export function plainCharge(charge: Charge): Charge {
  if (!charge.hold) return charge
  const { hold, ...plain } = charge
  return { ...plain, cost: charge.cost - (hold.from?.units ?? 0) }
}

/** Returns the adjustment that undoes a take made at `takenAt`. */
export function undoneCharge(charge: Charge, takenAt: number): Charge {
  const { cost, hold, counter } = charge
  const { holds } = counter.compiled
  if (!hold || !holds) return { ...charge, cost: -cost }
  // an earlier hold that the take extended stays, until the later time
  const from = { units: cost - (hold.from?.units ?? 0), endsAt: holds.endsAt(takenAt, hold.forMs) }
  return { ...charge, cost: 0, hold: { ...hold, from } }
}
