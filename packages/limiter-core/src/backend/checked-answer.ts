import type { Answer, AnsweredVerdict, Charge, Decision, PolicyVerdict } from '../contracts.ts'
import { plainVerdict, RequestDecision, vetoed } from '../decision/verdict.ts'
import { MalformedAnswer } from './backend-failure.ts'

/** The members of a charge that its verdict must match. */
type Asked = Pick<Charge, 'counter' | 'advisory'>

/**
 * Returns `answer` completed with optional members, or throws `MalformedAnswer` if it does not match the charges. An
 * invalid answer would otherwise corrupt limits, headers and mirrors. Verdicts after a denial may be missing.
 */
export function checkedAnswer(answer: Answer, charges: readonly Asked[]): Answer {
  checkHead(answer)
  const { verdicts, takenAts, countedEach } = answer
  if (!Array.isArray(verdicts)) throw new MalformedAnswer('verdicts', verdicts, 'a list')
  if (verdicts.length === charges.length) {
    for (let index = 0; index < charges.length; index++) checkVerdict(verdicts[index], charges[index])
  } else checkSome(verdicts, charges)
  if (takenAts !== undefined) checkEach('takenAts', takenAts, verdicts.length, Number.isFinite)
  if (countedEach !== undefined) checkEach('countedEach', countedEach, verdicts.length, isBoolean)
  return verdicts.some(isIncomplete) ? { ...answer, verdicts: verdicts.map(plainVerdict) } : answer
}

/** The decision of one charge, of an answer to it or of a decision that a backend made itself. Throws as `checkedAnswer`. */
export function checkedDecision(answer: Answer | Decision, charge: Asked): Decision {
  const flat = answer as (Decision & PolicyVerdict) | null | undefined
  // a decision that is its own verdict, as ours are
  if (flat?.binding !== flat || !flat || isIncomplete(flat)) return new RequestDecision(checkedAnswer(answer, [charge]))
  checkHead(flat)
  checkVerdict(flat, charge)
  if (flat.verdicts?.[0] !== flat) throw new MalformedAnswer('verdicts', flat.verdicts, 'itself alone')
  return flat
}

function isIncomplete({ availableAfterMs }: AnsweredVerdict): boolean {
  return availableAfterMs === undefined
}

function checkHead(answer: Answer): void {
  if (typeof answer !== 'object' || answer === null) throw new MalformedAnswer('answer', answer, 'an object')
  const { takenAt, counted, source } = answer
  if (!Number.isFinite(takenAt)) throw new MalformedAnswer('takenAt', takenAt, 'a time')
  if (!isBoolean(counted)) throw new MalformedAnswer('counted', counted, 'true or false')
  if (typeof source !== 'string') throw new MalformedAnswer('source', source, 'a text')
}

function checkVerdict(verdict: AnsweredVerdict, { counter: { compiled }, advisory }: Asked): void {
  if (typeof verdict !== 'object' || verdict === null) throw new MalformedAnswer('verdict', verdict, 'an object')
  const { policy, shadow, allowed, remaining, retryAfterMs } = verdict
  if (policy !== compiled.policy) throw new MalformedAnswer('policy', policy, 'that of its charge')
  if ((shadow === true) !== (advisory === true)) throw new MalformedAnswer('shadow', shadow, `${advisory === true}`)
  // the rule `allow` answers with Infinity
  const most = compiled.policy.calendar ? Number.MAX_SAFE_INTEGER : compiled.capacity
  const isLeft = Number.isInteger(remaining) && remaining >= 0 && remaining <= most
  if (!isLeft && remaining !== Number.POSITIVE_INFINITY)
    throw new MalformedAnswer('remaining', remaining, `0 to ${most}`)
  checkWaits(verdict)
  if (allowed !== (retryAfterMs === 0)) throw new MalformedAnswer('allowed', allowed, `${retryAfterMs === 0}`)
}

function checkWaits({ retryAfterMs, resetAfterMs, availableAfterMs = 0 }: AnsweredVerdict): void {
  if (!isWait(retryAfterMs)) throw new MalformedAnswer('retryAfterMs', retryAfterMs, '0 or more')
  if (!(isWait(resetAfterMs) && resetAfterMs < Number.POSITIVE_INFINITY))
    throw new MalformedAnswer('resetAfterMs', resetAfterMs, '0 or more')
  if (!isWait(availableAfterMs)) throw new MalformedAnswer('availableAfterMs', availableAfterMs, '0 or more')
}

function isWait(ms: unknown): boolean {
  return typeof ms === 'number' && ms >= 0
}

/** Checks the answer of a composite backend that denied before all parts were read. */
function checkSome(verdicts: readonly AnsweredVerdict[], charges: readonly Asked[]): void {
  let at = 0
  for (const verdict of verdicts) {
    while (at < charges.length && charges[at].counter.compiled.policy !== verdict?.policy) at++
    if (at === charges.length) throw new MalformedAnswer('verdicts', verdicts, 'one for each charge')
    checkVerdict(verdict, charges[at++])
  }
  if (!vetoed(verdicts)) throw new MalformedAnswer('verdicts', verdicts, 'one for each charge')
}

function checkEach(name: string, each: readonly unknown[], count: number, isOne: (one: unknown) => boolean): void {
  if (Array.isArray(each) && each.length === count && each.every(isOne)) return
  throw new MalformedAnswer(name, each, 'one for each verdict')
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}
