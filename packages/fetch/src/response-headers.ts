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
  const changes = changesTo(response, added, ours)
  if (changes.missing.length + changes.removed.length === 0) return response
  try {
    return changed(response, changes)
  } catch {
    // the headers of a response that came from `fetch` or `Response.redirect` are immutable
    return changed(new Response(response.body, response), changes)
  }
}

function changed(response: Response, { missing, removed }: Changes): Response {
  const { headers } = response
  for (const name of removed) headers.delete(name)
  for (const [name, value] of missing) headers.set(name, value)
  return response
}

interface Changes {
  readonly missing: readonly HeaderLine[]
  /** Names in lower case. */
  readonly removed: readonly string[]
}

const NONE: readonly never[] = []

function changesTo({ headers, status }: Response, added: readonly HeaderLine[], ours: readonly HeaderLine[]): Changes {
  const hasFields = hasLimitFields(headers)
  // nearly all responses
  if (!hasFields && !added.some(isOtherField)) return { missing: added, removed: NONE }
  const read = (name: string): string | null => headers.get(name)
  const changes = hasFields ? limitFieldChanges(status, [...headers.keys()], read, ours) : undefined
  const removed = changes?.removed ?? NONE
  const fields = changes ? [...changes.added, ...added.filter(isOtherField)] : added
  const missing = fields.flatMap(([name, value]): HeaderLine[] => {
    const present = read(name)
    if (present === null || removed.includes(name.toLowerCase())) return [[name, value]]
    return name.toLowerCase() === EXPOSED && present !== '*' ? [[name, union(present, value)]] : []
  })
  return { missing, removed }
}

function isOtherField([name]: HeaderLine): boolean {
  return !isLimitField(name)
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
