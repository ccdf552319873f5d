/** The parts of an Express 4 or 5 request that lead to its route. */
interface ExpressRequest {
  readonly method: string
  readonly route?: ExpressRoute | undefined
  readonly app?: ExpressApplication | undefined
}

interface ExpressRoute {
  readonly path: unknown
  /** Method names in lower case; `_all` if the route was declared for every method. */
  readonly methods?: Readonly<Record<string, unknown>>
}

interface ExpressApplication {
  /** Express 4 only, where reading `router` throws. */
  readonly _router?: Router
  readonly router?: Router
  /** Returns the patterns at which this application and its parent applications are mounted. */
  path?(): string
}

interface Router {
  readonly stack: readonly Layer[]
}

interface Layer {
  readonly route?: unknown
  /** A handler, or a router if it has a stack. */
  readonly handle?: unknown
  /** Pattern of a mount; missing in Express 5.0 to 5.2. */
  readonly rawPath?: unknown
  /** Pattern of a mount, as compiled by Express 4. */
  readonly regexp?: RegExp
  /** Whether the layer is mounted at the root. */
  readonly slash?: boolean
}

/** Replaces the mounts of a route whose router is in no known stack, because a handler calls it. */
const UNKNOWN_MOUNT = '/(mounted)'
/** Number of methods from which a route is one for all: `app.all` declares each of Node's, of which there are 34. */
const MANY_METHODS = 30
const patterns = new WeakMap<object, WeakMap<object, string>>()

/**
 * Returns the pattern of a request's route, after the patterns of the mounts that lead to it. `baseUrl` would contain
 * what the client sent, so the route is searched in the stacks. If a router is mounted twice, the first place counts.
 */
export function expressPattern({ route, app }: ExpressRequest): string | undefined {
  if (route?.path === undefined) return undefined
  const owner = app ?? route
  const known = patterns.get(owner) ?? new WeakMap<object, string>()
  patterns.set(owner, known)
  const pattern = known.get(route) ?? `${app?.path?.() ?? ''}${mountsAbove(route, app)}${String(route.path)}`
  known.set(route, pattern)
  return pattern
}

/** Returns the method under which a request is counted: GET for HEAD and for routes of all methods, else its own. */
export function expressMethod({ route, method }: ExpressRequest): string {
  const { methods = {} } = route ?? {}
  const isForAll = '_all' in methods || Object.keys(methods).length >= MANY_METHODS
  return !isForAll && method !== 'HEAD' && Object.hasOwn(methods, method.toLowerCase()) ? method : 'GET'
}

function mountsAbove(route: ExpressRoute, app: ExpressApplication | undefined): string {
  return within(app?._router ?? app?.router, route, new Set()) ?? UNKNOWN_MOUNT
}

/** Returns the mounts between `handle` and the route. `seen` stops at routers that are mounted in themselves. */
function within(handle: unknown, route: ExpressRoute, seen: Set<unknown>): string | undefined {
  const { stack } = (handle ?? {}) as Partial<Router>
  if (!Array.isArray(stack) || seen.has(handle)) return undefined
  seen.add(handle)
  for (const [index, layer] of (stack as readonly Layer[]).entries()) {
    if (layer.route === route) return ''
    const below = within(layer.handle, route, seen)
    if (below !== undefined) return mountOf(layer, index) + below
  }
  return undefined
}

function mountOf({ rawPath, regexp, slash }: Layer, index: number): string {
  if (slash) return ''
  if (rawPath !== undefined) return String(rawPath).replace(/\/$/, '')
  if (!regexp) return `/(${index})`
  // Express 4 compiles /teams to ^\/teams\/?(?=\/|$)
  return regexp.source.replace(/(?<=^|\|)\^|\\\/\?\(\?=\\\/\|\$\)/g, '').replace(/\\([/.])/g, '$1')
}
