import { SluiceError } from '../../errors/errors.ts'
import { kindOf } from '../../errors/shown.ts'
import { oneOf, optionsOf } from '../../options/options.ts'

/**
 * - `draft`: `RateLimit` and `RateLimit-Policy`.
 * - `legacy`: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
 */
export type HeaderDialect = 'draft' | 'legacy'

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
  readonly onAllowed: boolean
}

export function compileHeaders(options: HeaderOptions): HeaderPlan {
  const { headers = 'draft', headersOn = 'all' } = options
  const dialects = headers === 'none' ? [] : Array.isArray(headers) ? headers : [headers]
  if (Array.isArray(headers) && headers.length === 0) {
    const expected = "'none' or at least one of 'draft' and 'legacy'"
    throw new SluiceError('SLUICE_BAD_OPTION', `headers: expected ${expected}, received ${kindOf(headers)}`)
  }
  for (const dialect of dialects)
    oneOf('headers', dialect, ['draft', 'legacy', ...(dialect === headers ? ['none'] : [])])
  const { reset } = optionsOf('legacy', options.legacy === undefined ? { reset: 'epoch' } : options.legacy, ['reset'])
  const legacyReset = oneOf<'epoch' | 'delta'>('legacy.reset', reset, ['epoch', 'delta'])
  return {
    draft: dialects.includes('draft'),
    legacy: dialects.includes('legacy') ? legacyReset : undefined,
    onAllowed: oneOf('headersOn', headersOn, ['all', 'denied']) === 'all',
  }
}
