import { InHandlerDetector, type SluiceError, warnOnce } from '@sluice/limiter-core/http'
import { errorAt } from './error-at.ts'
import type { LayerOptions, LimitLayer } from './limit-layer.ts'
import type { RouteScopeNames } from './route-scope-names.ts'

/** A route as its framework tells of it. Where no route matched, there is no `url`. */
export interface RouteOfLayers<Options> {
  readonly url?: string | undefined
  readonly method?: string | readonly string[] | undefined
  /** What else a request must be for it, as a version or a host: in it routes of one method and `url` differ. */
  readonly constraints?: string | undefined
  /** What it says of limits. */
  readonly own: Options | undefined
}

/** The layers of the routes of one part of an application: one for each route that says something. */
export class RouteLayers<Req, Res, Options extends LayerOptions<Req, Res>> {
  readonly above: LimitLayer<Req, Res>
  readonly #check: (own: Options) => void
  readonly #names: RouteScopeNames
  readonly #known = new WeakMap<Options, Map<string, LimitLayer<Req, Res>>>()

  /** `names` are the application's. `check` throws coded errors for what is none of a route's options. */
  constructor(above: LimitLayer<Req, Res>, names: RouteScopeNames, check: (own: Options) => void) {
    this.above = above
    this.#names = names
    this.#check = check
  }

  /**
   * The same one for a HEAD as for the route that takes the GET, and another one for each route, though they were given
   * the same object. Throws coded errors that name the route.
   */
  of(route: RouteOfLayers<Options>): LimitLayer<Req, Res> {
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

  /** As `of`, for a route that could not be refused at start-up: what it says is ignored where it is bad, with a warning. */
  ofLate(route: RouteOfLayers<Options>): LimitLayer<Req, Res> {
    try {
      return InHandlerDetector.late(() => this.of(route))
    } catch (error) {
      const { code, message } = error as SluiceError
      warnOnce(code, `it is ignored, as its route was declared before the plugin: ${message}`, routeScopeOf(route))
      return this.above
    }
  }

  #made(own: Options, routeScope: string): LimitLayer<Req, Res> {
    try {
      this.#check(own)
      return this.above.below(own, routeScope)
    } catch (error) {
      throw errorAt(`route ${routeScope}`, error)
    }
  }
}

function methodsOf({ method = '' }: RouteOfLayers<unknown>): string[] {
  return [...new Set([method].flat().map((one) => (one === 'HEAD' ? 'GET' : one)))]
}

function routeScopeOf(route: RouteOfLayers<unknown>, methods: readonly string[] = methodsOf(route)): string {
  const { url, constraints } = route
  if (url === undefined) return '404'
  const routeScope = `${methods.join()} ${url}`
  return constraints ? `${routeScope} ${constraints}` : routeScope
}
