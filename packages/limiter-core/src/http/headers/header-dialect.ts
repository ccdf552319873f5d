import { badOption } from '../../errors/bad-option.ts'
import { SluiceError } from '../../errors/errors.ts'
import { kindOf } from '../../errors/shown.ts'
import { oneOf, optionsOf } from '../../options/options.ts'

/**
 * - `draft`: `RateLimit` and `RateLimit-Policy`.
 * - `draft-6`: `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds from now), of earlier drafts.
 * - `legacy`: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
 * - `openai`, `anthropic`: the headers of `draft`, and those that clients of the API of OpenAI or Anthropic read.
 */
export type HeaderDialect = 'draft' | 'draft-6' | 'legacy' | Vendor

/** A vendor of language models. */
type Vendor = 'openai' | 'anthropic'

export interface HeaderOptions {
  /** Rate limit headers to write. Default: `draft`. */
  readonly headers?: HeaderDialect | 'none' | readonly HeaderDialect[] | undefined
  /**
   * Unit of `X-RateLimit-Reset`: `epoch` for seconds since 1970, as express-rate-limit and GitHub write it, or `delta`
   * for seconds from now. Default: `epoch`.
   */
  readonly legacy?: { readonly reset: 'epoch' | 'delta' } | undefined
  /** Responses that carry the headers: `all`, or only those to `denied` requests. Default: `all`. */
  readonly headersOn?: 'all' | 'denied' | undefined
}

/** Prefix of three headers that describe only the binding policy: `-Limit`, `-Remaining` and `-Reset`. */
export type FieldPrefix = 'X-RateLimit' | 'RateLimit'

/** Validated header options. */
export interface HeaderPlan {
  readonly draft: boolean
  /** Unit of the reset, by the prefix of the headers. Undefined if there are no such headers. */
  readonly resets: Readonly<Partial<Record<FieldPrefix, 'epoch' | 'delta'>>> | undefined
  /** Vendors whose headers are written in addition to those of the draft. */
  readonly vendors: readonly Vendor[]
  readonly onAllowed: boolean
}

const VENDORS: readonly Vendor[] = ['openai', 'anthropic']
/** Drafts whose field names are those of the current one. */
const LATER_DRAFT = /^draft-(?:[7-9]|1[01])$/
const DIALECTS: readonly HeaderDialect[] = ['draft', 'draft-6', 'legacy', ...VENDORS]

export function compileHeaders(options: HeaderOptions): HeaderPlan {
  const { headers = 'draft', headersOn = 'all' } = options
  const dialects = dialectsOf(headers)
  const { reset } = optionsOf('legacy', options.legacy === undefined ? { reset: 'epoch' } : options.legacy, ['reset'])
  const legacyReset = oneOf<'epoch' | 'delta'>('legacy.reset', reset, ['epoch', 'delta'])
  const vendors = VENDORS.filter((vendor) => dialects.includes(vendor))
  const resets = {
    ...(dialects.includes('legacy') && { 'X-RateLimit': legacyReset }),
    ...(dialects.includes('draft-6') && { RateLimit: 'delta' as const }),
  }
  return {
    draft: dialects.includes('draft') || vendors.length > 0,
    resets: Object.keys(resets).length > 0 ? resets : undefined,
    vendors,
    onAllowed: oneOf('headersOn', headersOn, ['all', 'denied']) === 'all',
  }
}

function dialectsOf(headers: NonNullable<HeaderOptions['headers']>): readonly HeaderDialect[] {
  if (headers === 'none') return []
  if (!Array.isArray(headers)) return [dialectOf(headers, [...DIALECTS, 'none']) as HeaderDialect]
  if (headers.length > 0) return headers.map((dialect) => dialectOf(dialect, DIALECTS))
  const expected = `'none' or at least one of '${DIALECTS.join("', '")}'`
  throw new SluiceError('SLUICE_BAD_OPTION', `headers: expected ${expected}, received ${kindOf(headers)}`)
}

function dialectOf<T extends string>(value: unknown, choices: readonly T[]): T {
  if (typeof value === 'string' && LATER_DRAFT.test(value))
    throw badOption('headers', value, "'draft', which writes the fields of the current draft")
  return oneOf('headers', value, choices)
}
