import { type HeaderLine, isLimitField, limitFieldChanges } from '@sluice/http'

const EXPOSED = 'access-control-expose-headers'

/**
 * Returns the response with additional headers. A header that the response already has is kept: the application set it,
 * or an inner limit, which knows the decisions of all. Lists of exposed headers are merged. If the response has fields of
 * limits other than `ours`, such as the ones of an upstream, only one of both sets remains.
 */
export function withHeaders(
  response: Response,
  added: readonly HeaderLine[],
  ours: readonly HeaderLine[] = [],
): Response {
  // throws if it is not a response
  const { status } = response
  // a response that switches protocols, or of a failed fetch, cannot be copied
  if (added.length + ours.length === 0 || status < 200) return response
  const { missing, removed } = changesTo(response, added, ours)
  if (missing.length + removed.length === 0) return response
  const change = (target: Response): Response => {
    const { headers } = target
    for (const name of removed) headers.delete(name)
    for (const [name, value] of missing) headers.set(name, value)
    return target
  }
  try {
    return change(response)
  } catch {
    // the headers of a response that came from `fetch` or `Response.redirect` are immutable
    return change(new Response(response.body, response))
  }
}

interface Changes {
  readonly missing: readonly HeaderLine[]
  /** Names in lower case. */
  readonly removed: readonly string[]
}

const NONE: readonly never[] = []

function changesTo({ headers, status }: Response, added: readonly HeaderLine[], ours: readonly HeaderLine[]): Changes {
  const read = (name: string): string | null => headers.get(name)
  const hasFields = hasLimitFields(headers)
  // nearly all responses
  if (!hasFields && added.every(([name]) => isLimitField(name))) return { missing: added, removed: NONE }
  const changes = hasFields ? limitFieldChanges(status, [...headers.keys()], read, ours) : undefined
  const removed = changes?.removed ?? NONE
  const fields = changes ? [...changes.added, ...added.filter(([name]) => !isLimitField(name))] : added
  const missing = fields.flatMap(([name, value]): HeaderLine[] => {
    const present = read(name)
    if (present === null || removed.includes(name.toLowerCase())) return [[name, value]]
    return name.toLowerCase() === EXPOSED && present !== '*' ? [[name, union(present, value)]] : []
  })
  return { missing, removed }
}

function hasLimitFields(headers: Headers): boolean {
  for (const name of headers.keys()) if (isLimitField(name)) return true
  return false
}

function union(present: string, added: string): string {
  const names = present.split(',').map((name) => name.trim())
  const known = names.map((name) => name.toLowerCase())
  const more = added.split(',').map((name) => name.trim())
  return [...names, ...more.filter((name) => !known.includes(name.toLowerCase()))].join(', ')
}
