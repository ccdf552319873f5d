import type { PolicyDocument } from '../document/policy-document.ts'
import { type CheckedPolicy, checkedPolicies } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'

/** A field of a policy, before and after a change. */
interface Change {
  readonly field: string
  readonly before: string
  readonly after: string
  readonly reason?: string
}

/** Returns the changes since the previous document after which requests are counted separately. */
export function changedFindings(policies: readonly CheckedPolicy[], previous: PolicyDocument): PlacedFinding[] {
  const before = new Map(checkedPolicies(previous).map((policy) => [policy.name, policy]))
  return policies.flatMap((policy) => {
    const old = before.get(policy.name)
    const change = old && changeOf(old, policy)
    if (change === undefined) return []
    const { field } = change
    const message = changeText(policy, change)
    return [{ rule: 'changed-count', severity: 'hint', policy: policy.name, at: [...policy.at, field], message }]
  })
}

/** Returns the first change that separates counts; undefined if all units remain in one count. */
function changeOf(old: CheckedPolicy, policy: CheckedPolicy): Change | undefined {
  const both = [old, policy] as const
  const changes = [
    changeIn('key', both, ({ key }) => key.join(' and ')),
    changeIn('algorithm', both, ({ algorithm }) => algorithm),
    // a bucket counts units, whatever its window
    policy.algorithm === 'token-bucket' ? undefined : changeIn('per', both, ({ written }) => written.per),
    changeIn('slices', both, ({ written }) => String(written.slices ?? 1)),
    changeIn('retry', both, ({ written }) => written.retry ?? 'none'),
    policy.algorithm === 'gcra' ? changeIn('limit', both, limitsText) : undefined,
  ]
  const change = changes.find((each) => each !== undefined)
  const isTime = policy.algorithm === 'gcra' && (change?.field === 'per' || change?.field === 'limit')
  return change && isTime ? { ...change, reason: ' (gcra stores times, which depend on the rate)' } : change
}

function changeIn(
  field: string,
  [old, policy]: readonly [CheckedPolicy, CheckedPolicy],
  textOf: (policy: CheckedPolicy) => string,
): Change | undefined {
  const [before, after] = [textOf(old), textOf(policy)]
  return before === after ? undefined : { field, before, after }
}

function changeText({ name }: CheckedPolicy, { field, before, after, reason = '' }: Change): string {
  const effect =
    field === 'key'
      ? 'all keys start unused'
      : 'a process that reloads the file carries usage over, a new process starts without it'
  return (
    `${field} of '${name}' changes from ${before} to ${after}${reason}, which starts a separate count: ${effect}, and ` +
    'processes with different files count separately'
  )
}

function limitsText({ limits }: CheckedPolicy): string {
  return limits.map(({ plan, limit }) => (plan === undefined ? String(limit) : `${plan} ${limit}`)).join(', ')
}
