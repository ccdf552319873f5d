/** Config of a Fastify route. Fastify adds `url` and `method`; both are missing if no route matched. */
export interface RouteConfig {
  readonly url?: string | undefined
  readonly method?: string | readonly string[] | undefined
}

/** The part of a Fastify request that leads to its route. */
export interface RoutedRequest {
  readonly routeOptions?: { readonly config: RouteConfig }
}

/** Fastify 4 moved the config twice, and warns if the property of an older release is read. */
interface Fastify4Request {
  readonly routeConfig?: RouteConfig
  readonly context: { readonly config: RouteConfig }
}

export function routeConfigOf(request: RoutedRequest): RouteConfig {
  const older = request as unknown as Fastify4Request
  return request.routeOptions?.config ?? older.routeConfig ?? older.context.config
}

/** Removes a trailing slash: Fastify 4 has two routes, with and without it, for the root of a prefix. */
export function routePattern(url: string | undefined): string | undefined {
  return url?.replace(/(?<=.)\/$/, '')
}
