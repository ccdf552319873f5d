import type { Budget } from './budget.ts'

// RFC 9651: the parts of a list of items with parameters
const STRING = '"(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\["\\\\])*"'
const TOKEN = "[A-Za-z*][\\w!#$%&'*+.^`|~:/-]*"
const NUMBER = '-?(?:\\d{1,12}\\.\\d{1,3}|\\d{1,15})'
const DISPLAYED = '%"(?:[\\x20\\x21\\x23\\x24\\x26-\\x7e]|%[\\da-f]{2})*"'
const VALUE = `(?:${STRING}|${TOKEN}|${NUMBER}|:[A-Za-z\\d+/=]*:|\\?[01]|@-?\\d{1,15}|${DISPLAYED})`
const MEMBER = new RegExp(VALUE, 'y')
const PARAMETER = new RegExp(`; *([a-z*][a-z\\d_.*-]*)(?:=(${VALUE}))?`, 'y')
const COMMA = /[ \t]*,[ \t]*/y

const WHOLE = /^\d{1,15}$/
const NAME = /^["A-Za-z*]/
/** A member of the dictionary that draft 7 defines. */
const DRAFT_7 = /^[ \t]*(limit|remaining|reset)=(\d{1,15})[ \t]*(?:;|$)/

interface Item {
  /** The value as it is written, with the quotes of a string. */
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
}

/** Returns the items of a list (RFC 9651 section 4.2.1), which may not contain inner lists; undefined if it is malformed. */
function listItems(field: string): Item[] | undefined {
  const text = field.replace(/^ +| +$/g, '')
  const items: Item[] = []
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  do {
    const member = next(MEMBER)
    if (!member) return undefined
    const parameters = new Map<string, string>()
    for (let match = next(PARAMETER); match; match = next(PARAMETER)) parameters.set(match[1], match[2] ?? '?1')
    items.push({ value: member[0], parameters })
  } while (next(COMMA))
  return at === text.length ? items : undefined
}

/**
 * Returns the budgets of a `RateLimit` field, with the quotas and windows of `RateLimit-Policy`. Drafts 8 to 11 of
 * draft-ietf-httpapi-ratelimit-headers write `"name";r=9;t=30`; the names of parameters that were proposed for the next
 * one are `a` and `w`; draft 7 writes `limit=10, remaining=9, reset=30`. A malformed field has no budgets.
 */
export function rateLimitBudgets(field: string, policyField: string | null): Budget[] {
  const policies = listItems(policyField ?? '') ?? []
  const items = listItems(field)
  if (!items) return draft7Budgets(field, policies)
  return items.flatMap(({ value, parameters }): Budget[] => {
    const remaining = wholeOf(parameters.get('r') ?? parameters.get('a'))
    if (remaining === undefined || !NAME.test(value)) return []
    const resetS = wholeOf(parameters.get('t') ?? parameters.get('w'))
    const name = nameOf(value)
    const policy = policies.find((one) => nameOf(one.value) === name)?.parameters
    const unit = policy?.get('qu')
    return [
      {
        name: `${name}${parameters.get('pk') ?? ''}`,
        remaining,
        resetMs: resetS === undefined ? undefined : resetS * 1_000,
        limit: wholeOf(policy?.get('q')),
        windowMs: secondsOf(policy?.get('w')),
        isRequests: unit === undefined || /^"?requests?"?$/.test(unit),
      },
    ]
  })
}

/** Returns the window of the policy `100;w=60`, as drafts before 8 write it, that has this limit. */
export function windowOf(policyField: string | null, limit: number | undefined): number | undefined {
  const policy = listItems(policyField ?? '')?.find(({ value }) => wholeOf(value) === limit)
  return secondsOf(policy?.parameters.get('w'))
}

function draft7Budgets(field: string, policies: readonly Item[]): Budget[] {
  const members = new Map<string, number>()
  for (const part of field.split(',')) {
    const [, name, value] = DRAFT_7.exec(part) ?? []
    if (name !== undefined) members.set(name, Number(value))
  }
  const remaining = members.get('remaining')
  if (remaining === undefined) return []
  const limit = members.get('limit')
  const resetS = members.get('reset')
  const policy = policies.find(({ value }) => wholeOf(value) === limit)
  const resetMs = resetS === undefined ? undefined : resetS * 1_000
  return [{ name: '', remaining, resetMs, limit, windowMs: secondsOf(policy?.parameters.get('w')), isRequests: true }]
}

/** Names of policies are strings; in fields that break the rule, tokens. */
function nameOf(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}

function wholeOf(text: string | undefined): number | undefined {
  return text !== undefined && WHOLE.test(text) ? Number(text) : undefined
}

function secondsOf(text: string | undefined): number | undefined {
  return (wholeOf(text) ?? 0) > 0 ? Number(text) * 1_000 : undefined
}
