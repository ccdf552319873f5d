import {
  type Decision,
  type HeaderEntry,
  type HttpDenial,
  httpDenial,
  type Policy,
  type PolicyVerdict,
  policyItems,
  RequestDecision,
  rateEntry,
  violatedPolicies,
} from '@sluice/limiter-core/http'
import type { PlanGate, PlanPart } from './plan-gate.ts'
import type { CountedKeys } from './resolved-keys.ts'
import type { ResponseSettings } from './response-settings.ts'

type Partition = ((policy: Policy) => string) | undefined

/**
 * Returns the header entries for a decision, one per layer whose policies decided. `keys` has one key per policy of the
 * plan, and is empty if a key source denied the request. `applying`: the policies from which the request is not exempt, if it
 * is exempt from others.
 */
export function rateEntries<Req, Res>(
  gate: PlanGate<Req, Res>,
  decision: Decision,
  keys: CountedKeys,
  applying: readonly Policy[] | undefined,
): readonly HeaderEntry[] {
  const { parts } = gate
  if (parts.length === 1) return [entryOf(parts[0], gate, decision, keys, applying)]
  return parts.map((part) => {
    const verdicts = decision.verdicts.filter((verdict) => isOf(part, verdict))
    return entryOf(part, gate, new RequestDecision({ ...decision, verdicts }), keys, applying)
  })
}

/** Returns the denial and the response settings of the layer that contains the binding policy. */
export function rateDenial<Req, Res>(
  { parts }: PlanGate<Req, Res>,
  decision: Decision,
): { readonly denial: HttpDenial; readonly answer: ResponseSettings<Req, Res> } {
  const { answer } = parts.find((part) => isOf(part, decision.binding)) ?? parts[0]
  return { answer, denial: httpDenial(answer.status, violatedPolicies(decision), decision.retryAfterMs) }
}

function entryOf<Req, Res>(
  part: PlanPart<Req, Res>,
  gate: PlanGate<Req, Res>,
  decision: Decision,
  keys: CountedKeys,
  applying: readonly Policy[] | undefined,
): HeaderEntry {
  const { headers, partition } = part.answer
  const partitionOf: Partition = partition && keys.length > 0 ? partitionsOf(gate, keys, partition) : undefined
  const { controlled } = gate.limiter
  if (!partitionOf && !applying && !part.overrides && !controlled) return rateEntry(headers, part.policyItems, decision)
  const enforced = controlled
    ? new Set(
        part.members.filter(({ policy, mode }) => controlled.isEnforced(policy, mode)).map(({ policy }) => policy),
      )
    : part.enforced
  const counting = applying ? applying.filter((policy) => enforced.has(policy)) : [...enforced]
  const shown =
    part.overrides || controlled
      ? counting.flatMap((policy) => policyOfKey(policy, gate, decision, keys) ?? [])
      : counting
  return rateEntry(headers, policyItems(shown, partitionOf), decision, partitionOf)
}

/**
 * Returns the policy with the limit and window that apply to the key of the request, which may have an override. Undefined if the
 * limit or the window depends on the request and the policy has not decided, because another one denied.
 */
function policyOfKey<Req, Res>(
  policy: Policy,
  { plan }: PlanGate<Req, Res>,
  { verdicts }: Decision,
  keys: CountedKeys,
): Policy | undefined {
  const decided = verdicts.find((verdict) => verdict.policy.name === policy.name)
  if (decided) return decided.policy
  const index = plan.findIndex((one) => one.policy.name === policy.name)
  if (plan[index].terms) return undefined
  const key = keys[index]
  return (key !== undefined && plan[index].overrides?.counterOf(key).compiled.policy) || policy
}

function partitionsOf<Req, Res>(
  { plan }: PlanGate<Req, Res>,
  keys: CountedKeys,
  partition: (key: string) => string,
): (policy: Policy) => string {
  return (policy) => {
    const key = keys[plan.findIndex((one) => one.policy.name === policy.name)]
    return key === undefined ? '' : partition(key)
  }
}

function isOf<Req, Res>({ policies }: PlanPart<Req, Res>, { policy }: PolicyVerdict): boolean {
  // compared by name, because the policy of an override is another object
  return policies.some(({ name }) => name === policy.name)
}
