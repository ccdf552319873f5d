import type { ControlEntry } from '../control/control.ts'
import { durationText } from '../duration-text.ts'
import { count } from '../number-text.ts'
import { singleLine } from '../single-line.ts'
import type { AskedSnapshot, Explanation, PolicyExplanation } from './explanation.ts'

/** All of an explanation in words, the most urgent first. */
export function summaryOf({ at, policies, controls, cost }: Omit<Explanation, 'summary'>): string[] {
  const [blocking, waiting] = blocksOf(controls, policies)
  const denying = policies.filter(({ isExempt, mode, asked }) => !isExempt && mode === 'enforce' && !asked.allowed)
  const others = policies.filter((policy) => !denying.includes(policy))
  const lines = [...blocking.map((block) => `blocked${blockText(block, at)}`), ...denying.map(({ text }) => text)]
  if (lines.length === 0) lines.push(policies.length === 0 ? 'no policy is watched' : allowedText(cost))
  const notNow = waiting.map((block) => `would be blocked${blockText(block, at)}, but no policy enforces it`)
  return [...lines, ...others.map(({ text }) => text), ...notNow]
}

/** Blocks that deny, and those that would if their policies were enforced. */
function blocksOf(
  controls: readonly ControlEntry[],
  policies: readonly PolicyExplanation[],
): readonly [ControlEntry[], ControlEntry[]] {
  const blocks = controls.filter(({ action }) => action === 'block')
  const isEnforced = (block: ControlEntry): boolean => {
    const meant = policies.filter(({ policy }) => block.policy === undefined || block.policy === policy)
    // those of other processes alone are not known here
    return meant.length === 0 || meant.some(({ mode, isExempt }) => mode === 'enforce' && !isExempt)
  }
  return [blocks.filter(isEnforced), blocks.filter((block) => !isEnforced(block))]
}

/** `denied by 'tokens': 98,000 of 100,000 tokens used, 5,000 asked, fits in 12 s`. */
export function policyText(policy: Omit<PolicyExplanation, 'text'>, cost: number): string {
  const { policy: name, isExempt, mode, limit, used, unit, asked, isOverride } = policy
  if (isExempt) return `exempt from '${name}': the key has no limit of its own, and only such keys are counted`
  const own = isOverride ? ', a limit of its own' : ''
  const usage = `${count(used)} of ${count(limit)} ${unit} used${own}${heldText(policy)}`
  const notes = [usage, ...askedTexts(policy, cost), ...sourceTexts(policy)].join(', ')
  if (mode === 'off') return `not counted by '${name}', which is switched off: ${notes}`
  if (asked.allowed) return `allowed by '${name}': ${notes}`
  return `${mode === 'shadow' ? 'would be denied' : 'denied'} by '${name}': ${notes}`
}

function askedTexts({ asked, fund, resetAfterMs, used }: Omit<PolicyExplanation, 'text'>, cost: number): string[] {
  if (asked.allowed) return used === 0 ? [] : [`as good as new in ${durationText(resetAfterMs)}`]
  const missing = fund === undefined ? [] : [fund === 'top-up' ? 'nothing is left of what was bought' : 'all is used']
  return [`${count(cost)} asked`, ...missing, fitsText(asked)]
}

function fitsText({ retryAfterMs }: AskedSnapshot): string {
  return retryAfterMs === null ? 'never fits' : `fits in ${durationText(retryAfterMs)}`
}

function heldText({ held }: Omit<PolicyExplanation, 'text'>): string {
  return held
    .map(({ units, endsAfterMs }) => ` (${count(units)} of them on lease here for ${durationText(endsAfterMs)})`)
    .join('')
}

function sourceTexts({ isCounted, source, backend, perProcess }: Omit<PolicyExplanation, 'text'>): string[] {
  if (!isCounted) return [`answered by '${source}', since '${backend}' does not answer`]
  return perProcess ? ['counted in this process alone'] : []
}

function blockText({ policy, by, reason, endsAt }: ControlEntry, at: number): string {
  const where = policy === undefined ? '' : ` by '${policy}'`
  const why = reason === undefined ? '' : ` (${reason})`
  return singleLine(`${where} for another ${durationText(endsAt - at)}, by ${by}${why}`)
}

function allowedText(cost: number): string {
  return cost === 1 ? 'one more would be allowed' : `${count(cost)} more would be allowed`
}
