import type { Charge, Decision, Policy, PolicyVerdict } from '../contracts.ts'

/** `source` of a decision that counted nothing because the key is exempt. */
export const EXEMPTED = 'exempt'

/** `source` of a decision that counted nothing because every policy is off. */
export const OFF = 'off'

/**
 * Returns the time at which a charge was taken. Infinity, which stands for now, if its backend was not called because
 * another one had denied.
 */
export function takenAtOf({ verdicts, takenAt, takenAts }: Decision, charge: Charge): number {
  if (!takenAts) return takenAt
  return takenAts[placeIn(verdicts, charge)] ?? Number.POSITIVE_INFINITY
}

/** Whether the backend of a charge counted the take or was not called. Without a charge: whether all backends did. */
export function wasCounted({ verdicts, counted, countedEach }: Decision, charge: Charge | undefined): boolean {
  if (!charge || !countedEach) return counted
  return countedEach[placeIn(verdicts, charge)] ?? true
}

/** Whether a policy was off at the time of the take: the request was allowed without a verdict of this policy. */
export function wasOff(taken: Decision, charge: Charge): boolean {
  return taken.allowed && !hasVerdict(taken, charge)
}

/** Returns the policy that applied to a take; undefined if the backend was not called or did not count it. */
export function policyOf(taken: Decision, charge: Charge): Policy | undefined {
  return wasCounted(taken, charge) ? taken.verdicts[placeIn(taken.verdicts, charge)]?.policy : undefined
}

/** Returns the verdict of the policy of a charge; undefined if the key was exempt from it, or if it was off. */
export function verdictOf({ source, verdicts }: Decision, charge: Charge): PolicyVerdict | undefined {
  return source === EXEMPTED || source === OFF ? undefined : verdicts[placeIn(verdicts, charge)]
}

/** Whether the policy of a charge has decided; none has if the key was exempt, or off, under all of them. */
export function hasVerdict(taken: Decision, charge: Charge): boolean {
  return verdictOf(taken, charge) !== undefined
}

/** Whether a policy took units: none for a denied request, and for a shadow policy only if every policy allows. */
export function hasTaken({ allowed, verdicts }: Decision, policyName: string): boolean {
  if (!allowed) return false
  const isShadow = verdicts.some(({ policy, shadow }) => shadow && policy.name === policyName)
  return !isShadow || verdicts.every((verdict) => verdict.allowed)
}

/** Compares policy names, because the policy objects differ if the override of the key has changed. */
function placeIn(verdicts: Decision['verdicts'], { counter }: Charge): number {
  return verdicts.findIndex(({ policy }) => policy.name === counter.compiled.policy.name)
}
