import { ServiceProblem } from './service-problem.ts'
import { idIn, type ServiceRoute, serviceRoutes } from './service-routes.ts'

export interface MatchedRoute {
  readonly route: ServiceRoute
  readonly id: string
}

const TABLE = serviceRoutes.map((route) => ({ route, segments: route.path.slice(1).split('/') }))

/**
 * Returns the route of a request; HEAD requests use the routes of GET. Throws a problem with status 404, or with 405 if
 * the path has routes for other methods only.
 */
export function matchedRoute(method: string, segments: readonly string[]): MatchedRoute {
  const fitting = TABLE.filter((row) => fits(row.segments, segments)).map(({ route }) => route)
  if (fitting.length === 0) throw new ServiceProblem(404, 'not-found')
  const requested = method === 'HEAD' ? 'GET' : method
  const route = fitting.find((one) => one.method === requested)
  if (!route) throw new ServiceProblem(405, 'method-not-allowed', { headers: { Allow: allowed(fitting) } })
  return { route, id: route.path.includes('{') ? idIn(route.path, segments[1]) : '' }
}

function fits(names: readonly string[], segments: readonly string[]): boolean {
  return (
    names.length === segments.length && names.every((name, index) => name.startsWith('{') || name === segments[index])
  )
}

function allowed(routes: readonly ServiceRoute[]): string {
  const methods = routes.map(({ method }) => method)
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
}
