import { type HeaderLine, isLimitField, limitFieldChanges } from '@sluice/http'

const EXPOSED = 'access-control-expose-headers'

/**
 * Returns the response with additional headers. A header that the response already has is kept: the application set it,
 * or an inner limit, which knows the decisions of all. Lists of exposed headers are merged. If the response has fields of
 * limits other than `ours`, such as the ones of an upstream, only one of both sets remains.
 */
export function withHeaders(response: Response, added: Headers, ours: readonly HeaderLine[] = []): Response {
  const read = (name: string): string | null => response.headers.get(name)
  const changes = limitFieldChanges(response.status, [...response.headers.keys()], read, ours)
  const removed = changes?.removed ?? []
  const fields = changes ? [...changes.added, ...[...added].filter(([name]) => !isLimitField(name))] : [...added]
  const missing = fields.flatMap(([name, value]): HeaderLine[] => {
    const present = read(name)
    if (present === null || removed.includes(name.toLowerCase())) return [[name, value]]
    return name === EXPOSED && present !== '*' ? [[name, union(present, value)]] : []
  })
  // a response that switches protocols, or of a failed fetch, cannot be copied
  if (missing.length + removed.length === 0 || response.status < 200) return response
  const change = (target: Response): Response => {
    for (const name of removed) target.headers.delete(name)
    for (const [name, value] of missing) target.headers.set(name, value)
    return target
  }
  try {
    return change(response)
  } catch {
    // the headers of a response that came from `fetch` or `Response.redirect` are immutable
    return change(new Response(response.body, response))
  }
}

function union(present: string, added: string): string {
  const names = present.split(',').map((name) => name.trim())
  const known = names.map((name) => name.toLowerCase())
  const more = added.split(',').map((name) => name.trim())
  return [...names, ...more.filter((name) => !known.includes(name.toLowerCase()))].join(', ')
}
