import { ServiceProblem } from './service-problem.ts'

/** Where a request goes, as it was sent. */
export interface RequestTarget {
  /** Between the slashes, percent-encoded still: a slash that is encoded is part of an id. */
  readonly segments: readonly string[]
  /** Behind the question mark, without it. */
  readonly query: string
}

// a proxy may ask in the absolute form of RFC 9112 section 3.2.2
const ORIGIN = /^https?:\/\/[^/?]*/i
const ILLEGAL = /[^\x21-\x7e]|#/

/** Throws a problem for what is no path. No dot segment is resolved: `..` is an id like any other. */
export function requestTarget(url: string): RequestTarget {
  if (ILLEGAL.test(url)) throw badRequest('path: got characters that must be percent-encoded')
  const target = url.replace(ORIGIN, '')
  const end = target.indexOf('?')
  const path = end < 0 ? target : target.slice(0, end)
  if (!path.startsWith('/')) throw new ServiceProblem(404, 'not-found')
  return { segments: path.slice(1).split('/'), query: end < 0 ? '' : target.slice(end + 1) }
}

/** A percent-encoded text of strict UTF-8, decoded once. Throws a problem otherwise. */
export function decodedText(text: string, what: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw badRequest(`${what}: got what is no percent-encoded UTF-8`)
  }
}

/** The parameters of a query, each at most once, all of them known. Throws a problem otherwise. */
export function queryOf(query: string, known: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const [name, value = ''] = splitOnce(part.replaceAll('+', ' '), '=').map((text) => decodedText(text, 'query'))
    if (!known.includes(name)) throw badRequest(`query: expected ${oneOf(known)}, received an unknown parameter`)
    if (parameters.has(name)) throw badRequest(`query: got ${name} more than once`)
    parameters.set(name, value)
  }
  return parameters
}

/** A parameter that is a whole number, if it is there. Throws a problem otherwise. */
export function wholeParameter(parameters: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = parameters.get(name)
  if (text === undefined) return undefined
  if (/^\d{1,16}$/.test(text)) return Number(text)
  throw badRequest(`query: ${name}: got something else than a whole number from 0`)
}

export function badRequest(detail: string): ServiceProblem {
  return new ServiceProblem(400, 'bad-request', { detail })
}

function oneOf(known: readonly string[]): string {
  return known.length === 0 ? 'none' : `one of ${known.join(', ')}`
}

function splitOnce(text: string, at: string): string[] {
  const index = text.indexOf(at)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)]
}
