import type { ControlEntry } from '../control/control.ts'
import { durationText } from '../duration-text.ts'
import { count } from '../number-text.ts'
import { singleLine } from '../single-line.ts'
import type { ExpectedDecision, Explanation, PolicyExplanation } from './explanation.ts'

/** Returns the explanation as sentences, most urgent first. */
export function summaryOf({ at, policies, controls, cost }: Omit<Explanation, 'summary'>): string[] {
  const [active, ineffective] = blocksOf(controls, policies)
  const denying = policies.filter(
    ({ isExempt, mode, requested }) => !isExempt && mode === 'enforce' && !requested.allowed,
  )
  const others = policies.filter((policy) => !denying.includes(policy))
  const lines = [...active.map((block) => `blocked${blockText(block, at)}`), ...denying.map(({ text }) => text)]
  if (lines.length === 0)
    lines.push(policies.length === 0 ? 'no policies are observed in this process' : allowedText(cost))
  const notEnforced = ineffective.map((block) => `would be blocked${blockText(block, at)}, but no policy enforces it`)
  return [...lines, ...others.map(({ text }) => text), ...notEnforced]
}

/** Splits the blocks of a key into active ones and ones without effect, because no enforced policy is covered. */
function blocksOf(
  controls: readonly ControlEntry[],
  policies: readonly PolicyExplanation[],
): readonly [ControlEntry[], ControlEntry[]] {
  const blocks = controls.filter(({ action }) => action === 'block')
  const isEnforced = (block: ControlEntry): boolean => {
    const covered = policies.filter(({ policy }) => block.policy === undefined || block.policy === policy)
    // a policy that exists only in other processes is assumed to be enforced there
    return covered.length === 0 || covered.some(({ mode, isExempt }) => mode === 'enforce' && !isExempt)
  }
  return [blocks.filter(isEnforced), blocks.filter((block) => !isEnforced(block))]
}

/** Describes one policy: `denied by 'tokens': 98,000 of 100,000 tokens used, 5,000 requested, retry in 12 s`. */
export function policyText(policy: Omit<PolicyExplanation, 'text'>, cost: number): string {
  const { policy: name, isExempt, mode, limit, used, unit, requested, isOverride } = policy
  if (isExempt) return `exempt from '${name}': only keys with a limit of their own are counted, and this key has none`
  const own = isOverride ? ' (key-specific limit)' : ''
  const usage = `${count(used)} of ${count(limit)} ${unit} used${own}${heldText(policy)}${estimateText(policy)}`
  // the backend is not asked about a banned key, so its usage is unknown
  const state = policy.source === 'banned' ? 'banned' : usage
  const notes = [state, ...requestedTexts(policy, cost), ...sourceTexts(policy)].join(', ')
  if (mode === 'off') return `not counted by '${name}' (switched off): ${notes}`
  if (requested.allowed) return `allowed by '${name}': ${notes}`
  return mode === 'shadow' ? `would be denied by '${name}' (shadow mode): ${notes}` : `denied by '${name}': ${notes}`
}

function requestedTexts(
  { requested, fund, resetAfterMs, used }: Omit<PolicyExplanation, 'text'>,
  cost: number,
): string[] {
  if (requested.allowed) return used === 0 ? [] : [`full reset in ${durationText(resetAfterMs)}`]
  const missing = fund === undefined ? [] : [fund === 'top-up' ? 'no purchased units left' : 'quota used up']
  return [`${count(cost)} requested`, ...missing, retryText(requested)]
}

function retryText({ retryAfterMs }: ExpectedDecision): string {
  return retryAfterMs === null ? 'can never be allowed' : `retry in ${durationText(retryAfterMs)}`
}

function heldText({ held }: Omit<PolicyExplanation, 'text'>): string {
  return held
    .map(
      ({ units, endsAfterMs }) => ` (${count(units)} of them leased to this process for ${durationText(endsAfterMs)})`,
    )
    .join('')
}

/** Describes an estimate: ` (estimated: 12 not reported yet, other processes as of 80 ms ago)`. */
function estimateText({ estimate }: Omit<PolicyExplanation, 'text'>): string {
  if (!estimate) return ''
  const { unreported, othersAgeMs } = estimate
  const own = unreported === 0 ? [] : [`${count(unreported)} not reported yet`]
  const others =
    othersAgeMs === undefined ? 'without other processes' : `other processes as of ${durationText(othersAgeMs)} ago`
  return ` (estimated: ${[...own, others].join(', ')})`
}

function sourceTexts({ isCounted, source, backend, perProcess }: Omit<PolicyExplanation, 'text'>): string[] {
  if (!isCounted) return [`'${backend}' is not responding (answered by '${source}')`]
  return perProcess ? ['counted in this process only'] : []
}

function blockText({ policy, by, reason, endsAt }: ControlEntry, at: number): string {
  const where = policy === undefined ? '' : ` in policy '${policy}'`
  const why = reason === undefined ? '' : ` (${reason})`
  return singleLine(`${where} for another ${durationText(endsAt - at)}, by ${by}${why}`)
}

function allowedText(cost: number): string {
  return cost === 1 ? 'the next request would be allowed' : `a request with cost ${count(cost)} would be allowed`
}
