import type { Charge, Decision } from '../contracts.ts'

/** The source of a decision that counted nothing, since its key is exempt. */
export const EXEMPTED = 'exempt'

/** The source of a decision that counted nothing, since every policy is off. */
export const OFF = 'off'

/** When a charge was taken; now where its backend was not asked, since an earlier one denied. */
export function takenAtOf({ verdicts, takenAt, takenAts }: Decision, charge: Charge): number {
  if (!takenAts) return takenAt
  return takenAts[placeIn(verdicts, charge)] ?? Number.POSITIVE_INFINITY
}

/** Whether the backend of a charge, or of all, counted what was taken; true where it was not asked. */
export function wasCounted({ verdicts, counted, countedEach }: Decision, charge: Charge | undefined): boolean {
  if (!charge || !countedEach) return counted
  return countedEach[placeIn(verdicts, charge)] ?? true
}

/** Of a policy that exempts keys: whether this one was exempt when it was taken. */
export function wasExempt({ source, verdicts }: Decision, charge: Charge): boolean {
  return source === EXEMPTED || placeIn(verdicts, charge) < 0
}

/** Whether a policy was off when it was taken: all others allowed, and it was not asked. */
export function wasOff({ source, allowed, verdicts }: Decision, charge: Charge): boolean {
  return source === OFF || (allowed && placeIn(verdicts, charge) < 0)
}

/** The limit by which a charge was taken; undefined where it was not asked, or not counted. */
export function limitOf(taken: Decision, charge: Charge): number | undefined {
  return wasCounted(taken, charge) ? taken.verdicts[placeIn(taken.verdicts, charge)]?.policy.limit : undefined
}

/** By name: a key has another limit where its override has changed. */
function placeIn(verdicts: Decision['verdicts'], { counter }: Charge): number {
  return verdicts.findIndex(({ policy }) => policy.name === counter.compiled.policy.name)
}
