import type { YAMLMap } from 'yaml'
import type { YamlText } from './yaml-text.ts'

/** Header dialects of the option `headers` of a limiter. */
export const DIALECTS = ['draft', 'draft-8', 'draft-11', 'next', 'draft-6', 'legacy', 'openai', 'anthropic'] as const

export type Dialect = (typeof DIALECTS)[number]

/** Dialects with a list of policies, whose drafts name the parameters in the same way, except for `next`. */
const LISTS: ReadonlySet<Dialect> = new Set(['draft', 'draft-8', 'draft-11', 'next'])

/** Part of an OpenAPI description. */
export type Part = Readonly<Record<string, unknown>>

const GENERATED_BY = 'x-generated-by'
/** Extension of components that `sluice openapi` wrote, and may change or remove. */
export const GENERATED: Part = { [GENERATED_BY]: 'sluice' }

/** Whether `sluice openapi` wrote a component. */
export function isGenerated(source: YamlText, map: YAMLMap | undefined): boolean {
  return source.textOf(map, GENERATED_BY) === 'sluice'
}

const RESETS: Readonly<Record<string, string>> = {
  openai: 'Duration until the full limit is available again',
  anthropic: 'Time at which the full limit is available again',
}
const UNITS: Readonly<Record<string, readonly string[]>> = {
  openai: ['requests', 'tokens'],
  anthropic: ['requests', 'tokens', 'input-tokens', 'output-tokens'],
}

/** The headers of a dialect, by name. `units`: units that the policies count, for headers of vendors. */
export function rateHeaders(dialects: readonly Dialect[], units: ReadonlySet<string>): ReadonlyMap<string, Part> {
  const headers = new Map<string, Part>()
  const isVendor = dialects.some((dialect) => dialect in UNITS)
  if (dialects.some((dialect) => LISTS.has(dialect)) || isVendor) {
    headers.set('RateLimit', text(listText(dialects.includes('next')), 1024))
    headers.set('RateLimit-Policy', text('Units of each policy (q) in a window of seconds (w).', 1024))
  }
  if (dialects.includes('draft-6')) addTriple(headers, 'RateLimit', 'Seconds until the full limit is available again.')
  if (dialects.includes('legacy')) {
    addTriple(headers, 'X-RateLimit', 'When the full limit is available again, in seconds: since 1970, or from now.')
  }
  for (const vendor of dialects) {
    for (const unit of UNITS[vendor] ?? []) if (units.has(unit)) addVendor(headers, vendor, unit)
  }
  return headers
}

/** The headers of responses to denied requests, in addition to those of all responses. */
export function denialHeaders(dialects: readonly Dialect[]): ReadonlyMap<string, Part> {
  const headers = new Map([['Retry-After', integer('Seconds after which the same request can succeed.')]])
  if (!dialects.some((dialect) => dialect in UNITS)) return headers
  headers.set('retry-after-ms', integer('Milliseconds after which the same request can succeed.'))
  return headers.set('x-should-retry', text('`false` if the same request can never succeed.', 5))
}

function listText(isNext: boolean): string {
  const [available, seconds] = isNext ? ['a', 'w'] : ['r', 't']
  return `Units that each policy has left (${available}), and seconds until more are available (${seconds}).`
}

function addTriple(headers: Map<string, Part>, prefix: string, reset: string): void {
  headers.set(`${prefix}-Limit`, integer('Units in each window, of the policy that is closest to its limit.'))
  headers.set(`${prefix}-Remaining`, integer('Units that are left in the window.'))
  headers.set(`${prefix}-Reset`, integer(reset))
}

function addVendor(headers: Map<string, Part>, vendor: Dialect, unit: string): void {
  const nameOf = (field: string): string =>
    vendor === 'openai' ? `x-ratelimit-${field}-${unit}` : `anthropic-ratelimit-${unit}-${field}`
  headers.set(nameOf('limit'), integer(`Limit of ${unit}.`))
  headers.set(nameOf('remaining'), integer(`Number of ${unit} that are left.`))
  headers.set(nameOf('reset'), text(`${RESETS[vendor]}.`, 64))
}

function integer(description: string): Part {
  const schema = { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
  return { description, schema, ...GENERATED }
}

function text(description: string, maxLength: number): Part {
  return { description, schema: { type: 'string', maxLength, pattern: '^[\\x20-\\x7e]+$' }, ...GENERATED }
}
