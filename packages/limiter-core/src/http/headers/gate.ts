import type { Decision, Policy, PolicyVerdict } from '../../contracts.ts'
import { DRAFT, type ListDialect, policyItem, rateItem, wholeSeconds } from './fields.ts'
import { PROBLEM_MEDIA_TYPE, problemBody } from './problem.ts'

export type HeaderLine = readonly [name: string, value: string]

/** A vendor of language models. */
export type Vendor = 'openai' | 'anthropic'

/** Three headers that describe only the binding policy: `-Limit`, `-Remaining` and `-Reset`. */
export interface FieldDialect {
  readonly prefix: 'X-RateLimit' | 'RateLimit'
  /** Unit of the reset: seconds since 1970, or from now. */
  readonly reset: 'epoch' | 'delta'
}

/** Validated header options. */
export interface HeaderPlan {
  /** Undefined if `RateLimit` is not written. */
  readonly list: ListDialect | undefined
  readonly fields: readonly FieldDialect[]
  /** Vendors whose headers are written in addition to those of the draft. */
  readonly vendors: readonly Vendor[]
  readonly onAllowed: boolean
}

/** The headers of the current draft, in all responses. */
export const DRAFT_HEADERS: HeaderPlan = { list: DRAFT, fields: [], vendors: [], onAllowed: true }

/** The header content of one layer of a limiter. */
export interface HeaderEntry {
  readonly plan: HeaderPlan
  readonly allowed: boolean
  /** Items of `RateLimit-Policy`. */
  readonly policyItems: string
  /** Items of `RateLimit`: of all policies if the request is allowed, otherwise only of the policies that denied it. */
  readonly rateItems: string
  /** Verdict for the headers that describe only one policy; undefined if there are no such headers. */
  readonly binding: PolicyVerdict | undefined
  /** Verdicts of all policies for the headers of vendors; empty if there are no such headers. */
  readonly verdicts: readonly PolicyVerdict[]
}

/** Response that is sent instead of the application's. */
export interface HttpDenial {
  readonly status: number
  /** Value of `Retry-After`. Undefined if the request can never pass. */
  readonly retryAfterSeconds: number | undefined
  /** Exact wait in milliseconds. Infinity if the request can never pass. */
  readonly retryAfterMs: number
  /** Names of the policies that denied the request, as the body lists them. */
  readonly violated: readonly string[]
  readonly contentType: string
  readonly body: string
}

/** `remaining` of a policy whose backend failed and let the request pass. It is unknown, so it is not shown. */
const UNKNOWN_REMAINING = Number.POSITIVE_INFINITY

/** Returns the header content of a decision, without policies in shadow mode. `partitionOf` may return `''`. */
export function rateEntry(
  plan: HeaderPlan,
  policyItems: string,
  decision: Decision,
  partitionOf?: (policy: Policy) => string,
): HeaderEntry {
  let rateItems = ''
  for (const verdict of decision.verdicts) {
    if (verdict.shadow || (!decision.allowed && verdict.allowed) || !(verdict.remaining < UNKNOWN_REMAINING)) continue
    const item = rateItem(verdict, plan.list, partitionOf?.(verdict.policy))
    rateItems = rateItems === '' ? item : `${rateItems}, ${item}`
  }
  const binding = plan.fields.length > 0 ? decision.binding : undefined
  const shown = binding && !binding.shadow && binding.remaining < UNKNOWN_REMAINING ? binding : undefined
  const verdicts = plan.vendors.length > 0 ? decision.verdicts : []
  return { plan, allowed: decision.allowed, policyItems, rateItems, binding: shown, verdicts }
}

/** Same as `rateEntry`, for a limiter with a single enforced policy. */
export function soleEntry(plan: HeaderPlan, policyItems: string, verdict: PolicyVerdict): HeaderEntry {
  const counted = verdict.remaining < UNKNOWN_REMAINING
  const binding = counted && plan.fields.length > 0 ? verdict : undefined
  const verdicts = plan.vendors.length > 0 ? [verdict] : []
  return {
    plan,
    allowed: verdict.allowed,
    policyItems,
    rateItems: counted ? rateItem(verdict, plan.list) : '',
    binding,
    verdicts,
  }
}

/** Returns the items of `RateLimit-Policy`. They are the same for every request unless a partition key is shown. */
export function policyItems(policies: readonly Policy[], partitionOf?: (policy: Policy) => string): string {
  return policies.map((policy) => policyItem(policy, partitionOf?.(policy))).join(', ')
}

/**
 * Returns the header lines for all limiters of a response, with one valid list per header. If a limiter denied the
 * request, `RateLimit` contains only the items that denied it, so that the client does not wait for the window of
 * another policy. `wallMs` returns the time in ms since 1970, for resets in epoch seconds.
 */
export function headerLines(entries: readonly HeaderEntry[], wallMs: () => number): HeaderLine[] {
  const [only] = entries
  if (entries.length !== 1 || only.binding) return mergedLines(entries, wallMs)
  // fast path for most responses: one limiter, all policies in one list
  const { plan, allowed, policyItems: policies, rateItems: rates } = only
  if (!plan.list || (allowed && !plan.onAllowed) || policies === '') return []
  const policyLine: HeaderLine = ['RateLimit-Policy', policies]
  return rates === '' ? [policyLine] : [policyLine, ['RateLimit', rates]]
}

function mergedLines(entries: readonly HeaderEntry[], wallMs: () => number): HeaderLine[] {
  const denied = entries.some((entry) => !entry.allowed)
  const lines: HeaderLine[] = []
  const shown = entries.filter((entry) => entry.plan.list && (denied || entry.plan.onAllowed))
  const policies = joined(shown.map((entry) => entry.policyItems))
  if (policies !== '') lines.push(['RateLimit-Policy', policies])
  const rates = joined(shown.map((entry) => (denied && entry.allowed ? '' : entry.rateItems)))
  if (rates !== '') lines.push(['RateLimit', rates])
  const described = entries.filter((entry) => entry.binding && (denied ? !entry.allowed : entry.plan.onAllowed))
  for (const prefix of ['X-RateLimit', 'RateLimit'] as const) {
    const written = described.filter(({ plan }) => dialectOf(plan, prefix))
    if (written.length > 0) lines.push(...bindingLines(written.reduce(moreRestrictive), prefix, wallMs))
  }
  return lines
}

/** Returns the response to a denied request. */
export function httpDenial(status: number, violated: readonly string[], retryAfterMs: number): HttpDenial {
  return {
    status,
    retryAfterSeconds: Number.isFinite(retryAfterMs) ? Math.max(1, wholeSeconds(retryAfterMs)) : undefined,
    retryAfterMs,
    violated,
    contentType: PROBLEM_MEDIA_TYPE,
    body: problemBody(status, violated),
  }
}

/** Returns the names of the enforced policies that denied the request. */
export function violatedPolicies(decision: Decision): string[] {
  const names: string[] = []
  for (const verdict of decision.verdicts) if (!verdict.allowed && !verdict.shadow) names.push(verdict.policy.name)
  return names
}

function joined(items: readonly string[]): string {
  return items.length === 1 ? items[0] : items.filter((item) => item !== '').join(', ')
}

function moreRestrictive(a: HeaderEntry, b: HeaderEntry): HeaderEntry {
  if (a.allowed !== b.allowed) return a.allowed ? b : a
  return fractionLeft(b) < fractionLeft(a) ? b : a
}

function fractionLeft({ binding }: HeaderEntry): number {
  return binding ? binding.remaining / binding.policy.limit : 1
}

/** The reset is the time at which the full limit is available again or, for a denial, the time to retry. */
function bindingLines(
  { binding, plan }: HeaderEntry,
  prefix: FieldDialect['prefix'],
  wallMs: () => number,
): HeaderLine[] {
  if (!binding) return []
  const afterMs = binding.allowed ? binding.resetAfterMs : binding.retryAfterMs
  const lines: HeaderLine[] = [
    [`${prefix}-Limit`, String(binding.policy.limit)],
    [`${prefix}-Remaining`, String(binding.allowed ? binding.remaining : 0)],
  ]
  if (!Number.isFinite(afterMs)) return lines
  const reset = dialectOf(plan, prefix)?.reset === 'delta' ? wholeSeconds(afterMs) : wholeSeconds(wallMs() + afterMs)
  return [...lines, [`${prefix}-Reset`, String(reset)]]
}

function dialectOf({ fields }: HeaderPlan, prefix: FieldDialect['prefix']): FieldDialect | undefined {
  return fields.find((dialect) => dialect.prefix === prefix)
}
