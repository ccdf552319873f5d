import { badOption, type HeaderPlan, type ListDialect, oneOf, optionsOf, type Vendor } from '@sluice/limiter-core/http'
import { draft6 } from './dialects/draft-6.ts'
import { draft8 } from './dialects/draft-8.ts'
import { draft11 } from './dialects/draft-11.ts'
import { legacy } from './dialects/legacy.ts'
import { next } from './dialects/next.ts'

/**
 * - `draft`: `RateLimit` and `RateLimit-Policy`, as the current draft defines them: `draft-11`.
 * - `draft-8`, `draft-11`, `next`: the same fields of one fixed draft; at most one of them.
 * - `draft-6`: `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds from now), of earlier drafts.
 * - `legacy`: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
 * - `openai`, `anthropic`: the headers of `draft`, and headers for clients of the API of OpenAI or Anthropic.
 */
export type HeaderDialect = ListName | 'draft-6' | 'legacy' | Vendor

type ListName = 'draft' | 'draft-8' | 'draft-11' | 'next'

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

const LISTS: Readonly<Record<ListName, ListDialect>> = { draft: draft11, 'draft-8': draft8, 'draft-11': draft11, next }
const VENDORS: readonly Vendor[] = ['openai', 'anthropic']
const DIALECTS: readonly HeaderDialect[] = [...(Object.keys(LISTS) as ListName[]), 'draft-6', 'legacy', ...VENDORS]

export function compileHeaders(options: HeaderOptions): HeaderPlan {
  const { headers = 'draft', headersOn = 'all' } = options
  const dialects = dialectsOf(headers)
  const { reset } = optionsOf('legacy', options.legacy === undefined ? { reset: 'epoch' } : options.legacy, ['reset'])
  const legacyReset = oneOf<'epoch' | 'delta'>('legacy.reset', reset, ['epoch', 'delta'])
  const vendors = VENDORS.filter((vendor) => dialects.includes(vendor))
  const lists = dialects.filter((dialect): dialect is ListName => dialect in LISTS)
  if (lists.length > 1) throw badOption('headers', headers, `only one of '${lists.join("', '")}'`)
  return {
    list: LISTS[lists[0]] ?? (vendors.length > 0 ? LISTS.draft : undefined),
    fields: [
      ...(dialects.includes('legacy') ? [legacy(legacyReset)] : []),
      ...(dialects.includes('draft-6') ? [draft6] : []),
    ],
    vendors,
    onAllowed: oneOf('headersOn', headersOn, ['all', 'denied']) === 'all',
  }
}

function dialectsOf(headers: NonNullable<HeaderOptions['headers']>): readonly HeaderDialect[] {
  if (headers === 'none') return []
  if (!Array.isArray(headers))
    return [oneOf('headers', headers as HeaderDialect, [...DIALECTS, 'none']) as HeaderDialect]
  if (headers.length > 0) return headers.map((dialect) => oneOf('headers', dialect, DIALECTS))
  throw badOption('headers', headers, `'none' or at least one of '${DIALECTS.join("', '")}'`)
}
