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
  const verb = method === 'HEAD' ? 'GET' : method
  if (route !== undefined) return `${verb} ${route}`
  const { originalUrl, url } = rawRequestOf(raw)
  const target: unknown = originalUrl ?? url
  if (typeof target !== 'string') return `${verb} `
  const known = recent.get(target)
  if (known?.verb === verb) return known.workClass
  const workClass = `${verb} ${coarsePath(target)}`
  if (target.length > LONGEST_RECENT) return workClass
  if (recent.size >= MOST_RECENT) recent.clear()
  recent.set(target, { verb, workClass })
  return workClass
}

/** The class of requests whose route is not known yet, by their targets, since reading a path takes 1 µs. */
const recent = new Map<string, { readonly verb: string; readonly workClass: string }>()
/** Most targets of which the class is remembered, and most characters of one of them. */
const [MOST_RECENT, LONGEST_RECENT] = [500, 200]

function coarsePath(target: string): string {
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
