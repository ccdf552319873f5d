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
/** An id: a segment with a digit, or of more than 32 characters. */
const ID = /.*\d.*|.{33,}/s
/** Segments that name nothing: empty ones and dots. */
const EMPTY_SEGMENTS = /\/(\.?(\/|$))+/g
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
  const [path] = target.replace(ORIGIN, '').split(/[?#;]/, 1)
  // the first and the last segment may be empty
  const segments = path
    .replace(EMPTY_SEGMENTS, '/')
    .split('/', SEGMENTS + 2)
    .filter(Boolean)
  const coarse = segments.slice(0, SEGMENTS).map((segment) => {
    try {
      return decodeURIComponent(segment).toLowerCase().replace(ID, ':')
    } catch {
      return ':'
    }
  })
  return coarse.join('/')
}

/** Returns the result of the option `workClass`. Throws if it is not a string. */
export function checkedWorkClass(name: unknown): string {
  if (typeof name === 'string') return name
  throw badOption('workClass', name, 'a function that returns a string')
}
