import type { Answer, BackendVerdict, Charge, CountedKey } from '../contracts.ts'
import { ChargeVerdict } from '../decision/verdict.ts'

/** `source` of a decision about a banned key. */
const BANNED = 'banned'

/** Milliseconds for which the key of each charge is banned; 0 for keys that are not. */
export type Rests = readonly number[]

export function isDeniedBy(charges: readonly Charge[], rests: Rests): boolean {
  return charges.some(({ advisory }, index) => rests[index] > 0 && !advisory)
}

/**
 * Returns the denial of a request if an enforced policy bans its key; undefined otherwise. `waitMs`: how long the limits
 * would deny it without the ban.
 */
export function deniedBy(charges: readonly Charge[], rests: Rests, waitMs: () => number): Answer | undefined {
  if (!isDeniedBy(charges, rests)) return undefined
  const wait = waitMs()
  const verdicts = charges.flatMap((charge, index) =>
    rests[index] > 0 ? bannedVerdict(charge, rests[index], wait) : [],
  )
  return { verdicts, takenAt: 0, counted: false, source: BANNED }
}

/**
 * Returns the answer with denials by bans that do not deny the request, because they are in shadow mode or have just
 * begun: with the end of the ban, if it is later.
 */
export function withBans(charges: readonly Charge[], answer: Answer, rests: Rests): Answer {
  if (rests.every((ms) => ms === 0)) return answer
  const verdicts: BackendVerdict[] = [...answer.verdicts]
  for (const [index, charge] of charges.entries()) {
    const at = placeOf(answer, charge, index)
    if (rests[index] > 0 && at >= 0) verdicts[at] = bannedVerdict(charge, rests[index], verdicts[at].retryAfterMs)
  }
  return { ...answer, verdicts }
}

function bannedVerdict({ counter, advisory }: Charge, restMs: number, waitMs: number): BackendVerdict {
  const retryMs = Math.max(Math.ceil(restMs), Math.ceil(waitMs))
  const resetMs = retryMs === Number.POSITIVE_INFINITY ? restMs : retryMs
  return new ChargeVerdict(counter.compiled.policy, advisory === true, 0, retryMs, resetMs)
}

/** Returns the index of the verdict of a charge; -1 if its backend was not called. */
export function placeOf({ verdicts }: Answer, charge: Charge, index: number): number {
  const name = nameOf(charge)
  if (verdicts[index]?.policy.name === name) return index
  return verdicts.findIndex(({ policy }) => policy.name === name)
}

export function nameOf({ counter }: CountedKey): string {
  return counter.compiled.policy.name
}
