/** What a route of Fastify was declared with; `url` and `method` are its own. A request without a route has neither. */
export interface RouteConfig {
  readonly url?: string | undefined
  readonly method?: string | readonly string[] | undefined
}

/** A request of Fastify, by where its route is found. */
export interface RoutedRequest {
  readonly routeOptions?: { readonly config: RouteConfig }
}

/** Fastify 4 kept it in three properties in turn, and warns where one of the older ones is looked at. */
interface Fastify4Request {
  readonly routeConfig?: RouteConfig
  readonly context: { readonly config: RouteConfig }
}

export function routeConfigOf(request: RoutedRequest): RouteConfig {
  const older = request as unknown as Fastify4Request
  return request.routeOptions?.config ?? older.routeConfig ?? older.context.config
}

/** Fastify 4 takes the two spellings of the root of a prefix for two routes. */
export function routePattern(url: string | undefined): string | undefined {
  return url?.replace(/(?<=.)\/$/, '')
}
