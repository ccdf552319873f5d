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
/** Segments that are looked at, of which some may be empty. */
const MOST_SEGMENTS = 10
const MOST_CHARACTERS = 32
const ORIGIN = /^\w+:\/\/[^/?#]*/

/**
 * Returns the class `route` of a request: method and route, or the first three segments of the path if the route is not
 * known yet. Segments with digits and long ones are ids.
 */
export function workClassOf({ method, route, raw }: Pick<RequestView, 'method' | 'route' | 'raw'>): string {
  const { originalUrl, url } = rawRequestOf(raw)
  return `${method} ${route ?? coarsePath(originalUrl ?? url)}`
}

function coarsePath(target: unknown): string {
  if (typeof target !== 'string') return ''
  const [path] = target.replace(ORIGIN, '').split(/[?#;]/, 1)
  const segments = path.split('/', MOST_SEGMENTS).filter(Boolean).slice(0, SEGMENTS)
  return segments.map((segment) => (/\d/.test(segment) || segment.length > MOST_CHARACTERS ? ':' : segment)).join('/')
}

/** Returns the result of the option `workClass`. Throws if it is not a string. */
export function checkedWorkClass(name: unknown): string {
  if (typeof name === 'string') return name
  throw badOption('workClass', name, 'a function that returns a string')
}
