import type { Decision, Policy, PolicyVerdict } from '../contracts.ts'
import { policyItem, rateItem, stringItem, wholeSeconds } from './fields.ts'
import type { HeaderPlan } from './header-dialect.ts'
import { PROBLEM_MEDIA_TYPE, problemBody, problemFor } from './problem.ts'

export type HeaderLine = readonly [name: string, value: string]

/** The header content of one limiter. */
export interface GateEntry {
  readonly plan: HeaderPlan
  readonly allowed: boolean
  /** Items of `RateLimit-Policy`. */
  readonly policyItems: string
  /** Items of `RateLimit`: of all policies, or of the denied ones alone. */
  readonly rateItems: string
  /** For the legacy headers, which describe only one policy. */
  readonly binding: PolicyVerdict | undefined
}

/** An answer to write instead of the application's. */
export interface HttpDenial {
  readonly status: number
  /** Absent where no wait helps. */
  readonly retryAfterSeconds: number | undefined
  readonly contentType: string
  readonly body: string
}

/** Remaining units of a request that was admitted because its backend failed: unknown, so nothing is shown. */
const UNCOUNTED = Number.POSITIVE_INFINITY

/**
 * Returns the header content of a decision. Policies in shadow mode are never shown. `partitionOf` returns `;pk=...`
 * or an empty string.
 */
export function rateEntry(
  plan: HeaderPlan,
  policyItems: string,
  decision: Decision,
  partitionOf?: (policy: Policy) => string,
): GateEntry {
  let rateItems = ''
  for (const verdict of decision.verdicts) {
    if (verdict.shadow || (!decision.allowed && verdict.allowed) || !(verdict.remaining < UNCOUNTED)) continue
    const item = rateItem(verdict, partitionOf?.(verdict.policy))
    rateItems = rateItems === '' ? item : `${rateItems}, ${item}`
  }
  const binding = plan.legacy ? decision.binding : undefined
  const shown = binding && !binding.shadow && binding.remaining < UNCOUNTED ? binding : undefined
  return { plan, allowed: decision.allowed, policyItems, rateItems, binding: shown }
}

/** The same of the only policy, which is enforced. */
export function soleEntry(plan: HeaderPlan, policyItems: string, verdict: PolicyVerdict): GateEntry {
  const counted = verdict.remaining < UNCOUNTED
  const binding = counted && plan.legacy ? verdict : undefined
  return { plan, allowed: verdict.allowed, policyItems, rateItems: counted ? rateItem(verdict) : '', binding }
}

/** The items of `RateLimit-Policy` for a set of policies: constant unless a partition key is shown. */
export function policyItems(policies: readonly Policy[], partitionOf?: (policy: Policy) => string): string {
  return policies.map((policy) => policyItem(policy, partitionOf?.(policy))).join(', ')
}

/** Returns the header content of a full cap: its limit and 0 remaining. The time of the next release is unknown. */
export function capEntry(plan: HeaderPlan, name: string, limit: number): GateEntry {
  const item = stringItem(name)
  return {
    plan,
    allowed: false,
    policyItems: `${item};q=${limit};qu="concurrent-requests"`,
    rateItems: `${item};r=0`,
    binding: undefined,
  }
}

/**
 * The header lines of a response on which one or more limiters spoke: one valid list each. Once one denies, `RateLimit`
 * holds denied items alone, since a client must not wait for a longer window than the one that stopped it.
 * `wallMs` is the time of day, for legacy headers in epoch seconds.
 */
export function headerLines(entries: readonly GateEntry[], wallMs: () => number): HeaderLine[] {
  const [only] = entries
  if (entries.length !== 1 || only.plan.legacy) return mergedLines(entries, wallMs)
  // most responses: one limiter, no legacy headers
  const { plan, allowed, policyItems: policies, rateItems: rates } = only
  if (!plan.draft || (allowed && !plan.onAllowed) || policies === '') return []
  const policyLine: HeaderLine = ['RateLimit-Policy', policies]
  return rates === '' ? [policyLine] : [policyLine, ['RateLimit', rates]]
}

function mergedLines(entries: readonly GateEntry[], wallMs: () => number): HeaderLine[] {
  const denied = entries.some((entry) => !entry.allowed)
  const lines: HeaderLine[] = []
  const shown = entries.filter((entry) => entry.plan.draft && (denied || entry.plan.onAllowed))
  const policies = joined(shown.map((entry) => entry.policyItems))
  if (policies !== '') lines.push(['RateLimit-Policy', policies])
  const rates = joined(shown.map((entry) => (denied && entry.allowed ? '' : entry.rateItems)))
  if (rates !== '') lines.push(['RateLimit', rates])
  const legacy = entries.filter(
    (entry) => entry.binding && entry.plan.legacy && (denied ? !entry.allowed : entry.plan.onAllowed),
  )
  if (legacy.length > 0) lines.push(...legacyLines(legacy.reduce(nearerItsEnd), wallMs))
  return lines
}

/** The answer to a denied request, with the problem that fits the status. */
export function httpDenial(status: number, violated: readonly string[], retryAfterMs: number): HttpDenial {
  return {
    status,
    retryAfterSeconds: Number.isFinite(retryAfterMs) ? Math.max(1, wholeSeconds(retryAfterMs)) : undefined,
    contentType: PROBLEM_MEDIA_TYPE,
    body: problemBody(problemFor(status), violated, status),
  }
}

/** Names of the enforced policies that denied. */
export function violatedPolicies(decision: Decision): string[] {
  const names: string[] = []
  for (const verdict of decision.verdicts) if (!verdict.allowed && !verdict.shadow) names.push(verdict.policy.name)
  return names
}

/** The same of an answer, by the names that its response shows. */
export function violatedNames({ body }: HttpDenial): readonly string[] {
  return (JSON.parse(body) as { readonly 'violated-policies': readonly string[] })['violated-policies']
}

function joined(items: readonly string[]): string {
  return items.length === 1 ? items[0] : items.filter((item) => item !== '').join(', ')
}

function nearerItsEnd(a: GateEntry, b: GateEntry): GateEntry {
  if (a.allowed !== b.allowed) return a.allowed ? b : a
  return part(b) < part(a) ? b : a
}

function part({ binding }: GateEntry): number {
  return binding ? binding.remaining / binding.policy.limit : 1
}

/** The legacy reset is the time when the key is unused again, and for a denial the time to retry. */
function legacyLines({ binding, plan }: GateEntry, wallMs: () => number): HeaderLine[] {
  if (!binding) return []
  const afterMs = binding.allowed ? binding.resetAfterMs : binding.retryAfterMs
  const lines: HeaderLine[] = [
    ['X-RateLimit-Limit', String(binding.policy.limit)],
    ['X-RateLimit-Remaining', String(binding.allowed ? binding.remaining : 0)],
  ]
  if (!Number.isFinite(afterMs)) return lines
  const reset = plan.legacy === 'delta' ? wholeSeconds(afterMs) : wholeSeconds(wallMs() + afterMs)
  return [...lines, ['X-RateLimit-Reset', String(reset)]]
}
