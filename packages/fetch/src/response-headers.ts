const EXPOSED = 'access-control-expose-headers'

/**
 * Returns the response with additional headers. A header that the response already has is kept: the application set it,
 * or an inner limit, which knows the decisions of all. Lists of exposed headers are merged.
 */
export function withHeaders(response: Response, added: Headers): Response {
  const missing = [...added].flatMap(([name, value]): [string, string][] => {
    const present = response.headers.get(name)
    if (present === null) return [[name, value]]
    return name === EXPOSED && present !== '*' ? [[name, union(present, value)]] : []
  })
  // a response that switches protocols, or of a failed fetch, cannot be copied
  if (missing.length === 0 || response.status < 200) return response
  try {
    for (const [name, value] of missing) response.headers.set(name, value)
    return response
  } catch {
    // the headers of a response that came from `fetch` or `Response.redirect` are immutable
    const copy = new Response(response.body, response)
    for (const [name, value] of missing) copy.headers.set(name, value)
    return copy
  }
}

function union(present: string, added: string): string {
  const names = present.split(',').map((name) => name.trim())
  const known = names.map((name) => name.toLowerCase())
  const more = added.split(',').map((name) => name.trim())
  return [...names, ...more.filter((name) => !known.includes(name.toLowerCase()))].join(', ')
}
