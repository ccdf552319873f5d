import { METHODS } from 'node:http'

/** A request of Express 4 or 5, by where its route is found. */
interface ExpressRequest {
  readonly method: string
  readonly route?: ExpressRoute | undefined
  readonly app?: ExpressApplication | undefined
}

interface ExpressRoute {
  readonly path: unknown
  /** In lower case; `_all` where it was declared for every method. */
  readonly methods?: Readonly<Record<string, unknown>>
}

interface ExpressApplication {
  /** Of Express 4, where `router` throws. */
  readonly _router?: Router
  readonly router?: Router
  /** The patterns at which applications were mounted in one another. */
  path?(): string
}

interface Router {
  readonly stack: readonly Layer[]
}

interface Layer {
  readonly route?: unknown
  /** A handler; a router, where it has a stack. */
  readonly handle?: unknown
  /** The pattern of a mount; Express 5.0 to 5.2 do not keep it. */
  readonly rawPath?: unknown
  /** What Express 4 made of the pattern. */
  readonly regexp?: RegExp
  /** True of a mount at the root. */
  readonly slash?: boolean
}

/** A route that is in no stack that we can see: its router was called by a handler of the application's. */
const SOMEWHERE = '/(mounted)'
const patterns = new WeakMap<object, WeakMap<object, string>>()

/**
 * The pattern of a request's route, behind those of the mounts above it. `baseUrl` is what the client wrote, so the
 * route is looked for where it was declared: of a router that was mounted twice the first place counts.
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

/** The method under which a request's route counts: its own, where that was declared by itself. */
export function expressMethod({ route, method }: ExpressRequest): string {
  const { methods = {} } = route ?? {}
  const isForAll = '_all' in methods || Object.keys(methods).length >= METHODS.length
  return !isForAll && method !== 'HEAD' && Object.hasOwn(methods, method.toLowerCase()) ? method : 'GET'
}

function mountsAbove(route: ExpressRoute, app: ExpressApplication | undefined): string {
  return within(app?._router ?? app?.router, route, new Set()) ?? SOMEWHERE
}

/** `seen`: a router may be mounted in itself. */
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
  // ^\/teams\/?(?=\/|$) was written /teams
  return regexp.source.replace(/(?<=^|\|)\^|\\\/\?\(\?=\\\/\|\$\)/g, '').replace(/\\([/.])/g, '$1')
}
