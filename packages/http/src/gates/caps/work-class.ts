import { badOption, type RequestView } from '@sluice/limiter-core/http'

/** What all requests of servers have in common, and the request of a context of Hono. */
interface RawRequest {
  readonly req?: { readonly raw?: RawRequest }
  readonly url?: string
  readonly originalUrl?: string
  readonly headers?: object
}

/** Returns the request of any framework. */
export function rawRequestOf(raw: unknown): RawRequest {
  const context = raw as RawRequest | undefined
  return context?.req?.raw ?? context ?? {}
}

/** The option `workClass` for the class of `workClassOf`. */
export const ROUTE = 'route'
/** Segments of a path that name a route. What follows are usually ids. */
const SEGMENTS = 3
/** Segments that are looked at, of which the first and the last may be empty. */
const MOST_SEGMENTS = SEGMENTS + 2
const MOST_CHARACTERS = 32
const ID = ':'
/** Segments that name nothing. */
const SKIPPED: ReadonlySet<string> = new Set(['', '.'])
const EMPTY_SEGMENTS = /\/(?:\.?\/)+/g
const ORIGIN = /^\w+:\/\/[^/?#]*/

/**
 * Returns the class `route` of a request: method (GET for HEAD) and route, or the first three segments of the path if the
 * route is not known yet. Segments with digits and long ones are ids. A client cannot choose another class by another
 * spelling of the path: routers ignore case, decode characters or skip empty segments.
 */
export function workClassOf({ method, route, raw }: Pick<RequestView, 'method' | 'route' | 'raw'>): string {
  const { originalUrl, url } = rawRequestOf(raw)
  return `${method === 'HEAD' ? 'GET' : method} ${route ?? coarsePath(originalUrl ?? url)}`
}

function coarsePath(target: unknown): string {
  if (typeof target !== 'string') return ''
  const [written] = target.replace(ORIGIN, '').split(/[?#;]/, 1)
  const path = written.replace(EMPTY_SEGMENTS, '/')
  const segments = path.split('/', MOST_SEGMENTS).filter((segment) => !SKIPPED.has(segment))
  return segments.slice(0, SEGMENTS).map(coarseSegment).join('/')
}

function coarseSegment(segment: string): string {
  // a longer text is an id however it is written, and each letter may be three characters
  if (segment.length > 3 * MOST_CHARACTERS) return ID
  const text = decoded(segment).toLowerCase()
  return /\d/.test(text) || text.length > MOST_CHARACTERS ? ID : text
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return ID
  }
}

/** Returns the result of the option `workClass`. Throws if it is not a string. */
export function checkedWorkClass(name: unknown): string {
  if (typeof name === 'string') return name
  throw badOption('workClass', name, 'a function that returns a string')
}
