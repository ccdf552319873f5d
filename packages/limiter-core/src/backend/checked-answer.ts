import type { Answer, BackendVerdict, Charge, Decision, PolicyVerdict } from '../contracts.ts'
import { hasDenial, plainVerdict, RequestDecision } from '../decision/verdict.ts'
import { MalformedAnswer } from './backend-failure.ts'

/** The properties of a charge that its verdict must match. */
type Asked = Pick<Charge, 'counter' | 'advisory'>

/**
 * Returns `answer` with optional properties filled in. Throws `MalformedAnswer` if it does not match the charges,
 * because an invalid answer would corrupt limits, headers and the local copy of counts. Verdicts after a denial may be
 * missing.
 */
export function checkedAnswer(answer: Answer, charges: readonly Asked[]): Answer {
  checkHead(answer)
  const { verdicts, takenAts, countedEach } = answer
  if (!Array.isArray(verdicts)) throw new MalformedAnswer('verdicts', verdicts, 'an array')
  if (verdicts.length === charges.length) {
    for (let index = 0; index < charges.length; index++) checkVerdict(verdicts[index], charges[index])
  } else checkSome(verdicts, charges)
  if (takenAts !== undefined) checkEach('takenAts', takenAts, verdicts.length, Number.isFinite)
  if (countedEach !== undefined) checkEach('countedEach', countedEach, verdicts.length, isBoolean)
  return verdicts.some(isIncomplete) ? { ...answer, verdicts: verdicts.map(plainVerdict) } : answer
}

/**
 * Returns the decision about one charge, from an answer to it or from a decision. Throws `MalformedAnswer` if it does
 * not match the charge.
 */
export function checkedDecision(answer: Answer | Decision, charge: Asked): Decision {
  const flat = answer as (Decision & PolicyVerdict) | null | undefined
  // a `SoleDecision` is its own verdict and is returned without a copy
  if (flat?.binding !== flat || !flat || isIncomplete(flat)) return new RequestDecision(checkedAnswer(answer, [charge]))
  checkHead(flat)
  checkVerdict(flat, charge)
  if (flat.verdicts?.[0] !== flat) throw new MalformedAnswer('verdicts', flat.verdicts, 'the decision itself')
  return flat
}

function isIncomplete({ availableAfterMs }: BackendVerdict): boolean {
  return availableAfterMs === undefined
}

function checkHead(answer: Answer): void {
  if (typeof answer !== 'object' || answer === null) throw new MalformedAnswer('answer', answer, 'an object')
  const { takenAt, counted, source } = answer
  if (!Number.isFinite(takenAt)) throw new MalformedAnswer('takenAt', takenAt, 'a finite number')
  if (!isBoolean(counted)) throw new MalformedAnswer('counted', counted, 'true or false')
  if (typeof source !== 'string') throw new MalformedAnswer('source', source, 'a string')
}

function checkVerdict(verdict: BackendVerdict, { counter: { compiled }, advisory }: Asked): void {
  if (typeof verdict !== 'object' || verdict === null) throw new MalformedAnswer('verdict', verdict, 'an object')
  const { policy, shadow, allowed, remaining, retryAfterMs } = verdict
  if (policy !== compiled.policy) throw new MalformedAnswer('policy', policy, 'the policy of its charge')
  if ((shadow === true) !== (advisory === true)) throw new MalformedAnswer('shadow', shadow, `${advisory === true}`)
  // a calendar period may have carried-over or purchased units; the failure rule `allow` returns Infinity
  const most = compiled.policy.calendar ? Number.MAX_SAFE_INTEGER : compiled.capacity
  const isLeft = Number.isInteger(remaining) && remaining >= 0 && remaining <= most
  if (!isLeft && remaining !== Number.POSITIVE_INFINITY)
    throw new MalformedAnswer('remaining', remaining, `an integer from 0 to ${most}`)
  checkWaits(verdict)
  if (allowed !== (retryAfterMs === 0)) throw new MalformedAnswer('allowed', allowed, `${retryAfterMs === 0}`)
}

function checkWaits({ retryAfterMs, resetAfterMs, availableAfterMs = 0 }: BackendVerdict): void {
  if (!isWait(retryAfterMs)) throw new MalformedAnswer('retryAfterMs', retryAfterMs, 'a number of at least 0')
  if (!(isWait(resetAfterMs) && resetAfterMs < Number.POSITIVE_INFINITY))
    throw new MalformedAnswer('resetAfterMs', resetAfterMs, 'a finite number of at least 0')
  if (!isWait(availableAfterMs))
    throw new MalformedAnswer('availableAfterMs', availableAfterMs, 'a number of at least 0')
}

function isWait(ms: unknown): boolean {
  return typeof ms === 'number' && ms >= 0
}

/** Checks an answer with fewer verdicts than charges, which is valid only if an enforced policy denied. */
function checkSome(verdicts: readonly BackendVerdict[], charges: readonly Asked[]): void {
  let at = 0
  for (const verdict of verdicts) {
    while (at < charges.length && charges[at].counter.compiled.policy !== verdict?.policy) at++
    if (at === charges.length) throw new MalformedAnswer('verdicts', verdicts, 'one verdict per charge')
    checkVerdict(verdict, charges[at++])
  }
  if (!hasDenial(verdicts)) throw new MalformedAnswer('verdicts', verdicts, 'one verdict per charge')
}

function checkEach(name: string, each: readonly unknown[], count: number, isOne: (one: unknown) => boolean): void {
  if (Array.isArray(each) && each.length === count && each.every(isOne)) return
  throw new MalformedAnswer(name, each, 'one valid value per verdict')
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}
