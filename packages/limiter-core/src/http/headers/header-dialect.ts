import { SluiceError } from '../../errors/errors.ts'
import { kindOf } from '../../errors/shown.ts'
import { oneOf, optionsOf } from '../../options/options.ts'

/**
 * - `draft`: `RateLimit` and `RateLimit-Policy`.
 * - `legacy`: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
 * - `openai`, `anthropic`: the headers of `draft`, and those that clients of the API of OpenAI or Anthropic read.
 */
export type HeaderDialect = 'draft' | 'legacy' | Vendor

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

/** Validated header options. */
export interface HeaderPlan {
  readonly draft: boolean
  readonly legacy: 'epoch' | 'delta' | undefined
  /** Vendors whose headers are written in addition to those of the draft. */
  readonly vendors: readonly Vendor[]
  readonly onAllowed: boolean
}

const VENDORS: readonly Vendor[] = ['openai', 'anthropic']

export function compileHeaders(options: HeaderOptions): HeaderPlan {
  const { headers = 'draft', headersOn = 'all' } = options
  const dialects = headers === 'none' ? [] : Array.isArray(headers) ? headers : [headers]
  if (Array.isArray(headers) && headers.length === 0) {
    const expected = "'none' or at least one of 'draft', 'legacy', 'openai' and 'anthropic'"
    throw new SluiceError('SLUICE_BAD_OPTION', `headers: expected ${expected}, received ${kindOf(headers)}`)
  }
  for (const dialect of dialects)
    oneOf('headers', dialect, ['draft', 'legacy', ...VENDORS, ...(dialect === headers ? ['none'] : [])])
  const { reset } = optionsOf('legacy', options.legacy === undefined ? { reset: 'epoch' } : options.legacy, ['reset'])
  const legacyReset = oneOf<'epoch' | 'delta'>('legacy.reset', reset, ['epoch', 'delta'])
  const vendors = VENDORS.filter((vendor) => dialects.includes(vendor))
  return {
    draft: dialects.includes('draft') || vendors.length > 0,
    legacy: dialects.includes('legacy') ? legacyReset : undefined,
    vendors,
    onAllowed: oneOf('headersOn', headersOn, ['all', 'denied']) === 'all',
  }
}
