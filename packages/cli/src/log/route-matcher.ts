import { SluiceError } from '@sluice/limiter-core/backend'
import { pathToRegexp } from 'path-to-regexp'
import { keptText } from './kept-text.ts'

interface RoutePattern {
  /** The route as it is written. */
  readonly route: string
  /** Undefined for all methods. */
  readonly method: string | undefined
  readonly path: string
  readonly regexp: RegExp
  /** Whether the pattern fits one path only. */
  readonly isStatic: boolean
}

/** A method or `*`, which may be missing, and the pattern of a path. */
export const METHOD_AND_PATH: RegExp = /^(?:([A-Z]+|\*) )?(\/.*)$/
/** `*` at the end of a pattern, as Fastify and Hono write it. */
const UNNAMED_WILDCARD = /\*$/
const MOST_PATHS = 10_000
/** Longer paths are matched each time. */
const LONGEST_PATH = 256
const MOST_METHODS = 20

/** Finds the route of a path among patterns such as `GET /teams/:team`, because a log has paths only. */
export class RouteMatcher {
  readonly #patterns: readonly RoutePattern[]
  /** Routes of paths, by method. */
  readonly #found = new Map<string | undefined, Map<string, string | undefined>>()

  /** Throws `SLUICE_BAD_OPTION` if a pattern is invalid. */
  constructor(routes: readonly string[]) {
    const patterns = [...new Set(routes)].map(compiled)
    // a path fits its own route before one with parameters, in the order of the patterns otherwise
    this.#patterns = [...patterns.filter(({ isStatic }) => isStatic), ...patterns.filter(({ isStatic }) => !isStatic)]
  }

  /** Returns the first route that fits; undefined if none does. HEAD fits the routes of GET. */
  routeOf(method: string | undefined, path: string | undefined): string | undefined {
    if (this.#patterns.length === 0 || path === undefined) return undefined
    const asked = method === 'HEAD' ? 'GET' : method
    const found = this.#cacheOf(asked)
    const known = found.get(path)
    if (known !== undefined || found.has(path)) return known
    const route = this.#patterns.find((one) => (one.method ?? asked) === asked && one.regexp.test(path))?.route
    // the paths of a log have no bound
    if (found.size >= MOST_PATHS) found.clear()
    if (path.length <= LONGEST_PATH) found.set(keptText(path), route)
    return route
  }

  #cacheOf(method: string | undefined): Map<string, string | undefined> {
    const known = this.#found.get(method)
    if (known) return known
    if (this.#found.size >= MOST_METHODS) this.#found.clear()
    const added = new Map<string, string | undefined>()
    this.#found.set(method, added)
    return added
  }
}

function compiled(route: string): RoutePattern {
  const [, method, path] = METHOD_AND_PATH.exec(route) ?? []
  if (path === undefined) throw badRoute(route)
  try {
    const { regexp, keys } = pathToRegexp(withNamedWildcard(path))
    return { route, method: method === '*' ? undefined : method, path, regexp, isStatic: keys.length === 0 }
  } catch (error) {
    throw badRoute(route, error)
  }
}

/** Returns a pattern of Fastify or Hono as one of path-to-regexp. */
export function withNamedWildcard(path: string): string {
  return path.replace(UNNAMED_WILDCARD, '*rest')
}

function badRoute(route: string, cause?: unknown): SluiceError {
  const expected = "a pattern such as 'GET /teams/:team' or '/files/*'"
  return new SluiceError('SLUICE_BAD_OPTION', `route: expected ${expected}, received '${route}'`, { cause })
}
