import { ServiceProblem } from './service-problem.ts'

/** Target of a request, still encoded. */
export interface RequestTarget {
  /** Percent-encoded parts of the path between slashes. An encoded slash is part of an id. */
  readonly segments: readonly string[]
  /** Part after the question mark. */
  readonly query: string
}

// proxies may send the absolute form of RFC 9112 section 3.2.2
const ORIGIN = /^https?:\/\/[^/?]*/i
const ILLEGAL = /[^\x21-\x7e]|#/

/**
 * Splits a request URL. Dot segments are not resolved: `..` is an id like any other. Throws a problem for an invalid
 * path.
 */
export function requestTarget(url: string): RequestTarget {
  if (ILLEGAL.test(url)) throw badRequest('path: expected percent-encoded characters')
  const target = url.replace(ORIGIN, '')
  const end = target.indexOf('?')
  const path = end < 0 ? target : target.slice(0, end)
  if (!path.startsWith('/')) throw new ServiceProblem(404, 'not-found')
  return { segments: path.slice(1).split('/'), query: end < 0 ? '' : target.slice(end + 1) }
}

/** Decodes a percent-encoded string once. Throws a problem if it is not valid UTF-8. */
export function decodedText(text: string, what: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw badRequest(`${what}: expected percent-encoded UTF-8`)
  }
}

/** Returns the parameters of a query. Throws a problem if one is unknown or occurs twice. */
export function queryOf(query: string, known: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const [name, value = ''] = splitOnce(part.replaceAll('+', ' '), '=').map((text) => decodedText(text, 'query'))
    if (!known.includes(name)) throw badRequest(`query: expected ${oneOf(known)}, received an unknown parameter`)
    if (parameters.has(name)) throw badRequest(`query: expected ${name} at most once`)
    parameters.set(name, value)
  }
  return parameters
}

/** Returns a parameter as an integer, or undefined if it is missing. Throws a problem for any other value. */
export function wholeParameter(parameters: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = parameters.get(name)
  if (text === undefined) return undefined
  if (/^\d{1,16}$/.test(text)) return Number(text)
  throw badRequest(`query: ${name}: expected an integer from 0`)
}

export function badRequest(detail: string): ServiceProblem {
  return new ServiceProblem(400, 'bad-request', { detail })
}

function oneOf(known: readonly string[]): string {
  return known.length === 0 ? 'no parameters' : `one of ${known.join(', ')}`
}

function splitOnce(text: string, at: string): string[] {
  const index = text.indexOf(at)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)]
}
