import type { KeyFallback, KeySource, RequestView } from '@sluice/limiter-core'
import { resolveKey } from '@sluice/limiter-core/http'

interface Shown {
  readonly ip?: unknown
  readonly method?: string
  readonly route?: string
  readonly routeMethod?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly raw?: unknown
}

/** A request as an adapter presents it: header names in lower case, no value for a repeated header. */
export function viewOf<Raw = unknown>({
  ip = '203.0.113.7',
  method = 'GET',
  route,
  routeMethod,
  headers = {},
  raw,
}: Shown = {}) {
  const values = new Map(Object.entries(headers))
  return {
    ip,
    method,
    route,
    routeMethod,
    raw,
    header: (name: string) => {
      const value = values.get(name)
      return typeof value === 'string' ? value : undefined
    },
  } as RequestView<Raw>
}

/** The key of a request, and the problems reported while computing it. */
export function keyed(source: KeySource<never>, shown: Shown = {}) {
  const reports: KeyFallback[] = []
  const view = viewOf<never>(shown)
  const key = resolveKey(source, view, (fallback) => reports.push(fallback))
  return { key, reports }
}
