import type { Budget, ResponseFields } from './budget.ts'
import { windowOf } from './rate-limit-field.ts'
import { resetAfterMs } from './reset-time.ts'

/** Names of the fields that describe one budget. */
interface FieldSet {
  readonly name: string
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

const WHOLE = /^\d{1,15}$/
/** Kinds of units that vendors of language models limit. */
const KINDS = ['requests', 'tokens', 'input-tokens', 'output-tokens']
/** A bucket of Shopify is empty again after this time, whatever its size (40 requests at 2 per second). */
const SHOPIFY_MS = 20_000
const SHOPIFY = /^(\d{1,9})\/(\d{1,9})$/

/** The sets of each server, in the order in which they are read: the first server with a budget is taken. */
const SERVERS: readonly (readonly FieldSet[])[] = [
  [setOf('ratelimit-')],
  KINDS.map((kind) => ({
    name: kind,
    limit: `anthropic-ratelimit-${kind}-limit`,
    remaining: `anthropic-ratelimit-${kind}-remaining`,
    reset: `anthropic-ratelimit-${kind}-reset`,
  })),
  KINDS.map((kind) => setOf('x-ratelimit-', kind)),
  [setOf('x-ratelimit-')],
  [setOf('x-rate-limit-')],
]

/** Returns the budgets of the fields from before `RateLimit`, and of those of vendors. */
export function vendorBudgets(fields: ResponseFields, wallMs: number): Budget[] {
  for (const sets of SERVERS) {
    const budgets = sets.flatMap((set) => budgetOf(set, fields, wallMs))
    if (budgets.length > 0) return budgets
  }
  return shopifyBudgets(fields.get('x-shopify-shop-api-call-limit'))
}

function setOf(prefix: string, kind?: string): FieldSet {
  const end = kind ? `-${kind}` : ''
  const name = kind ?? ''
  return { name, limit: `${prefix}limit${end}`, remaining: `${prefix}remaining${end}`, reset: `${prefix}reset${end}` }
}

function budgetOf(set: FieldSet, fields: ResponseFields, wallMs: number): Budget[] {
  const remaining = wholeOf(fields.get(set.remaining))
  if (remaining === undefined) return []
  const limit = wholeOf(fields.get(set.limit))
  return [
    {
      name: set.name,
      remaining,
      limit,
      resetMs: resetAfterMs(fields.get(set.reset), wallMs),
      windowMs: set.name === '' ? windowOf(fields.get('ratelimit-policy'), limit) : undefined,
      isRequests: !set.name.endsWith('tokens'),
    },
  ]
}

function shopifyBudgets(field: string | null): Budget[] {
  const [, used, size] = SHOPIFY.exec(field?.trim() ?? '') ?? []
  const [usedUnits, limit] = [Number(used), Number(size)]
  if (used === undefined || limit === 0) return []
  const resetMs = (Math.min(usedUnits, limit) / limit) * SHOPIFY_MS
  const remaining = Math.max(0, limit - usedUnits)
  return [{ name: 'shopify', remaining, limit, resetMs, windowMs: SHOPIFY_MS, isRequests: true }]
}

function wholeOf(field: string | null): number | undefined {
  const text = field?.trim() ?? ''
  return WHOLE.test(text) ? Number(text) : undefined
}
