import { type Duration, parseDuration } from '@sluice/limiter-core/backend'
import type { AttributeValue, PolicyDocument, WrittenBan, WrittenList, WrittenPolicy } from '@sluice/policies'
import { count, windowWords } from '../terminal/figures.ts'

/** The limits of a policy file in words. Texts in backquotes are names and values of the file. */
export interface LimitTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Sentences about all limits. */
  readonly notes: readonly string[]
}

const COLUMNS = ['Policy', 'Limit', 'Counted for each', 'Requests', 'Above the limit']

/** Returns one row for each policy that is not off. */
export function limitTable({ policies, overrides = [], lists = {} }: PolicyDocument): LimitTable {
  const active = policies.filter(({ mode }) => mode !== 'off')
  const rows = active.map((policy) => {
    const own = overrides.filter((override) => override.policy === policy.name).length
    return [
      quoted(policy.name),
      limitText(policy, own),
      keyText(policy),
      requestsText(policy, active),
      aboveText(policy),
    ]
  })
  return { columns: COLUMNS, rows, notes: listNotes(lists) }
}

/** Returns a limit as `100 requests per minute`, with what differs from request to request. */
function limitText({ limit, per, unit: name = 'requests', burst, cost = 1 }: WrittenPolicy, overrides: number): string {
  const unit = unitText(name)
  const window = windowWords(parseDuration(per as Duration, 'per'))
  const amount =
    typeof limit === 'number'
      ? `${count(limit)} ${limit === 1 ? unit.replace(/^requests$/, 'request') : unit}`
      : `${Object.entries(limit)
          .map(([plan, units]) => `${count(units)} (plan ${quoted(plan)})`)
          .join(', ')} ${unit}`
  return [
    `${amount} per ${window}`,
    ...(burst === undefined ? [] : [`at most ${count(burst)} at once`]),
    ...(cost === 1 ? [] : [costText(cost, unit)]),
    ...(overrides === 0
      ? []
      : [`${overrides === 1 ? '1 key has' : `${count(overrides)} keys have`} a key-specific limit`]),
  ].join('; ')
}

function costText(cost: NonNullable<WrittenPolicy['cost']>, unit: string): string {
  if (typeof cost === 'number') return `a request takes ${count(cost)} ${unit}`
  return `a request takes ${count(cost.reserve)} ${unit} until ${quoted(cost.settle)} is known`
}

function keyText({ key = 'address', rollout }: WrittenPolicy): string {
  const names = (typeof key === 'string' ? [key] : key).map((name) => {
    if (name === 'address') return 'client address'
    return name.startsWith('header:') ? `value of the header ${quoted(name.slice('header:'.length))}` : quoted(name)
  })
  const share = rollout === undefined || rollout === '100%' ? '' : ` (${rollout} of them)`
  return `${names.join(' and ')}${share}`
}

function requestsText({ name, match = {}, when, replaces = [] }: WrittenPolicy, all: readonly WrittenPolicy[]): string {
  const conditions = Object.entries(match).map(([attribute, values]) => matchText(attribute, values))
  if (when !== undefined) conditions.push(`if ${quoted(when)}`)
  const replaced = all.filter((other) => other.name !== name && replaces.includes(other.name))
  const instead = replaced.length === 0 ? '' : `, instead of ${replaced.map((other) => quoted(other.name)).join(', ')}`
  return `${conditions.length === 0 ? 'all' : conditions.join(', ')}${instead}`
}

function matchText(attribute: string, values: AttributeValue | readonly AttributeValue[]): string {
  const texts = [values].flat().map((value) => quoted(String(value)))
  const either = texts.length === 1 ? texts[0] : `${texts.slice(0, -1).join(', ')} or ${texts[texts.length - 1]}`
  return attribute === 'route' ? either : `${attribute === 'method' ? 'method' : quoted(attribute)} ${either}`
}

function aboveText({ mode, ban, retry }: WrittenPolicy): string {
  if (mode === 'shadow') return 'would be denied (shadow mode)'
  return [
    'denied with 429',
    ...(retry === 'booked' ? ['each denied request gets its own turn'] : []),
    ...(ban === undefined ? [] : [banText(ban)]),
  ].join('; ')
}

function banText({ after, within, for: first, growth = 1, strikes = 'denials' }: WrittenBan): string {
  const events = strikes === 'denials' ? 'denied requests' : 'failed requests'
  const longer = growth === 1 ? '' : `, longer each time`
  return `banned for ${lengthText(first)} after ${count(after)} ${events} within ${lengthText(within)}${longer}`
}

function lengthText(duration: string): string {
  const words = windowWords(parseDuration(duration as Duration, 'ban'))
  return /^\d/.test(words) ? words : `1 ${words}`
}

function listNotes({ allow, block }: NonNullable<PolicyDocument['lists']>): string[] {
  return [
    ...(allow === undefined ? [] : [`Exempt from all limits: ${entriesText(allow)}.`]),
    ...(block === undefined ? [] : [`Always denied: ${entriesText(block)}.`]),
  ]
}

/** Returns the length of a list, whose entries are addresses and keys of clients. */
function entriesText(list: WrittenList): string {
  if ('file' in list) return `the entries of ${quoted(list.file)}`
  return list.length === 1 ? '1 address, range or key' : `${count(list.length)} addresses, ranges and keys`
}

/** Returns a text of the file between backquotes, on one line. */
function quoted(text: string): string {
  return `\`${text.trim().replace(/\s+/g, ' ').replaceAll('`', "'")}\``
}

function unitText(unit: string): string {
  return /^[\w-]+$/.test(unit) ? unit : quoted(unit)
}
