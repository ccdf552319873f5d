import { errorAt, InHandlerDetector, type LayerOptions, type LimitLayer } from '@sluice/http'
import { type SluiceError, warnOnce } from '@sluice/limiter-core/http'
import type { RouteScopeNames } from './route-scope-names.ts'

/** A route as its framework describes it. `url` is missing if no route matched. */
export interface RouteInfo<Options> {
  readonly url?: string | undefined
  readonly method?: string | readonly string[] | undefined
  /** Further conditions, such as a version or a host, that distinguish routes with the same method and `url`. */
  readonly constraints?: string | undefined
  /** Limits that the route declares. */
  readonly own: Options | undefined
}

/** The layers of the routes of one part of an application: one for each route that declares limits. */
export class RouteLayers<Req, Res, Options extends LayerOptions<Req, Res>> {
  readonly above: LimitLayer<Req, Res>
  readonly #check: (own: Options) => void
  readonly #names: RouteScopeNames
  readonly #known = new WeakMap<Options, Map<string, LimitLayer<Req, Res>>>()

  /** `names` is shared by the whole application. `check` throws coded errors for options that a route cannot have. */
  constructor(above: LimitLayer<Req, Res>, names: RouteScopeNames, check: (own: Options) => void) {
    this.above = above
    this.#names = names
    this.#check = check
  }

  /**
   * Returns the layer of a route. Each route has a separate layer, even if several declare limits with the same object;
   * only the GET and the HEAD route of a URL share one. Throws coded errors that name the route.
   */
  of(route: RouteInfo<Options>): LimitLayer<Req, Res> {
    const { own } = route
    if (own === undefined) return this.above
    const known = this.#known.get(own) ?? new Map<string, LimitLayer<Req, Res>>()
    const routeScopes = methodsOf(route).map((method) => routeScopeOf(route, [method]))
    const routeScope = routeScopes.find((one) => known.has(one))
    const layer = (routeScope && known.get(routeScope)) || this.#made(own, this.#names.of(routeScopeOf(route), own))
    for (const one of routeScopes) known.set(one, layer)
    this.#known.set(own, known)
    return layer
  }

  /** Like `of`, for a route found after start-up: invalid options are ignored with a warning. */
  ofExistingRoute(route: RouteInfo<Options>): LimitLayer<Req, Res> {
    try {
      return InHandlerDetector.suppress(() => this.of(route))
    } catch (error) {
      const { code, message } = error as SluiceError
      const where = route.url === undefined ? 'a 404 handler' : 'a route declared before the plugin'
      warnOnce(code, `invalid limits of ${where} are ignored: ${message}`, routeScopeOf(route))
      return this.above
    }
  }

  #made(own: Options, routeScope: string): LimitLayer<Req, Res> {
    try {
      this.#check(own)
      return this.above.extend(own, routeScope)
    } catch (error) {
      throw errorAt(`route ${routeScope}`, error)
    }
  }
}

function methodsOf({ method = '' }: RouteInfo<unknown>): string[] {
  return [...new Set([method].flat().map((one) => (one === 'HEAD' ? 'GET' : one)))]
}

function routeScopeOf(route: RouteInfo<unknown>, methods: readonly string[] = methodsOf(route)): string {
  const { url, constraints } = route
  if (url === undefined) return '404'
  const routeScope = `${methods.join()} ${url}`
  return constraints ? `${routeScope} ${constraints}` : routeScope
}
