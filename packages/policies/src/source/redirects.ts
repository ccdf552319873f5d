const MAX_REDIRECTS = 5
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

interface Answered {
  /** URL that sent the response. */
  readonly url: URL
  readonly response: Response
}

/**
 * Returns the first response that is not a redirect. `fetch` itself would send the user's headers to any origin. Throws
 * after five redirects, and for a redirect from `https:` to another scheme.
 */
export async function followRedirects(start: URL, send: (url: URL) => Promise<Response>): Promise<Answered> {
  let url = start
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await send(url)
    if (!REDIRECTS.includes(response.status)) return { url, response }
    await response.body?.cancel()
    url = targetOf(response, url)
  }
  throw new Error(`expected at most ${MAX_REDIRECTS} redirects, received more`)
}

function targetOf(response: Response, from: URL): URL {
  const location = response.headers.get('location') ?? ''
  const target = location !== '' && URL.canParse(location, from.href) ? new URL(location, from) : undefined
  const isAllowed = target?.protocol === 'https:' || (target?.protocol === 'http:' && from.protocol === 'http:')
  if (!target || !isAllowed || target.username !== '' || target.password !== '') {
    throw new Error('expected a redirect to a URL without credentials that is as secure, received another one')
  }
  return target
}
