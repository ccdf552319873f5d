import type { Charge } from '../contracts.ts'

/** Returns a charge for a count without holds: the units by which it changes what its key has used. */
export function plainCharge(charge: Charge): Charge {
  const { cost, hold } = charge
  return hold ? { ...charge, cost: cost - (hold.from?.units ?? 0), hold: undefined } : charge
}

/** Returns the adjustment that undoes a take made at `takenAt`. */
export function undoneCharge(charge: Charge, takenAt: number): Charge {
  const { cost, hold } = charge
  const holds = hold && charge.counter.compiled.holds
  if (!holds) return { ...charge, cost: -cost }
  // an earlier hold that the take extended stays, until the later time, unless it was over
  const kept = hold.from && hold.from.endsAt > takenAt ? hold.from.units : 0
  const from = { units: cost - kept, endsAt: holds.endsAt(takenAt, hold.forMs) }
  return { ...charge, cost: 0, hold: { ...hold, from } }
}
