import {
  compileSharedOptions,
  type HttpLimit,
  LIMIT_PLACES,
  LimitLayer,
  optionsOf,
  type RouteInfo,
  RouteLayers,
  RouteScopeNames,
  routeConfigOf,
  routePattern,
  SLUICE_OPTIONS,
  SluiceError,
  shown,
  warnAboutFastifyOption,
  warnOnce,
} from '@sluice/node-http/adapter'
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  RouteOptions,
} from 'fastify'
import { checkInHook, type Done } from './fastify-mount.ts'
import {
  ADMITTED,
  CHECKS_LIMITS,
  CONSTRAINTS,
  type Config,
  checkAfterHooks,
  type MarkedRequest,
  reportEndToCaps,
  SIGNALS_END,
} from './limited-route.ts'
import {
  FASTIFY_OPTIONS,
  type FastifyPhase,
  type FastifyRouteLimits,
  type FastifySluiceOptions,
} from './sluice-options.ts'

type Layer = LimitLayer<FastifyRequest, FastifyReply>

/** Limits of a route, and the phase in which they are checked. */
interface Part {
  readonly limits: Layer['limits']
  readonly phase: FastifyPhase
}

/** Limits of an instance, which its child instances inherit. */
interface Registration {
  readonly layer: Layer
  readonly phase: FastifyPhase
  readonly routes: RouteLayers<FastifyRequest, FastifyReply, FastifyRouteLimits>
  /** Cached by the config object, which is unique for each route. */
  readonly parts: WeakMap<object, Part>
  /** Shared by all instances of the application. */
  readonly names: RouteScopeNames
}

const HOME = Symbol.for('sluice.fastify@1')

const AWAIT_PLUGIN = 'await app.register(sluice, …) before the route'

type Home = FastifyInstance & { [HOME]?: Registration }

const ROUTE = ['shed', 'rateLimit', 'slowDown', 'inflightLimit', 'skipLimits', 'phase'] as const
const LIMITS = ['rateLimit', 'inflightLimit', 'slowDown'] as const
const APPLICATION = [...ROUTE, ...SLUICE_OPTIONS] as const

/**
 * Limits an application: `await app.register(sluice, { rateLimit: { limit: 100, window: '1m' } })`. If it is registered
 * again in a child instance, its options change the limits for the routes of that instance.
 */
export const sluice: FastifyPluginAsync<FastifySluiceOptions> = plugin(
  async (app: Home, options: FastifySluiceOptions) => {
    const own = validated('register(sluice)', withoutRegisterOptions(options), APPLICATION)
    const above = app[HOME]
    const layer = above ? childLayer(app, above, own) : rootLayer(app, own)
    const phase = own.phase ?? above?.phase ?? 'onRequest'
    const names = above?.names ?? new RouteScopeNames()
    const routes = new RouteLayers<FastifyRequest, FastifyReply, FastifyRouteLimits>(layer, names, (route) =>
      validated('config.sluice', route, ROUTE),
    )
    app[HOME] = { layer, phase, routes, parts: new WeakMap(), names }
  },
  { name: '@sluice/fastify', fastify: '>=4 <6' },
)

/**
 * Marks a plugin as Fastify's own `fastify-plugin` does: it applies to the instance that registers it, not to a child
 * instance. That package is CommonJS that requires `node:path`, which ES module bundles of esbuild cannot load; a test
 * compares the marks.
 */
function plugin<P extends FastifyPluginAsync<FastifySluiceOptions>>(
  register: P,
  meta: { readonly name: string; readonly fastify: string },
): P {
  return Object.assign(register, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: meta.name,
    [Symbol.for('plugin-meta')]: meta,
  })
}

/** Removes the options of `register` itself, which Fastify also passes to plugins. */
function withoutRegisterOptions(options: FastifySluiceOptions): FastifySluiceOptions {
  // Fastify replaces missing options by an object
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return options
  const { prefix, logLevel, logSerializers, ...own } = options as Record<string, unknown>
  return own
}

function validated<T extends FastifyRouteLimits>(owner: string, own: T, known: readonly (keyof T & string)[]): T {
  const { phase } = optionsOf(owner, own, known, LIMIT_PLACES)
  if (phase === undefined || phase === 'onRequest' || phase === 'preHandler') return own
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `phase: expected one of 'onRequest', 'preHandler', received ${shown(phase, 'phase')}`,
  )
}

/** Outermost instances with the plugin, by server. */
const roots = new WeakMap<object, FastifyInstance[]>()

function rootLayer(app: Home, options: FastifySluiceOptions): Layer {
  const others = roots.get(app.server) ?? []
  if (others.some((other) => Object.prototype.isPrototypeOf.call(app, other))) {
    // the routes of the child would not have the limits of the application
    const expected = 'expected the application before its child instances'
    throw new SluiceError('SLUICE_BAD_OPTION', `register(sluice): ${expected}, received a child instance first`)
  }
  roots.set(app.server, [...others, app])
  const root: Layer = LimitLayer.root(FASTIFY_OPTIONS, compileSharedOptions(options))
  const { shed, rateLimit, slowDown, inflightLimit, skipLimits } = options
  const layer = root.extend({ shed, rateLimit, slowDown, inflightLimit, skipLimits }, '')
  closeWith(app, root)
  addHooks(app)
  warnAboutFastifyOption(app)
  return layer
}

/** Releases delayed requests before the server waits for its last responses, and closes the limits after them. */
function closeWith(app: Home, layer: Layer): void {
  app.addHook('onClose', async () => layer.close())
  try {
    app.addHook('preClose', async () => layer.releaseDelayed())
  } catch {
    // early versions of Fastify 4 do not have this hook
  }
}

function childLayer(app: Home, above: Registration, options: FastifySluiceOptions): Layer {
  const { shed, rateLimit, slowDown, inflightLimit, skipLimits } = options
  const { withBackend, withObservers } = compileSharedOptions(options)
  const own = {
    shed: shed && withObservers(shed),
    rateLimit: rateLimit && withBackend(rateLimit),
    slowDown: slowDown && withBackend(slowDown),
    inflightLimit: inflightLimit && withObservers(inflightLimit),
    skipLimits,
  }
  return above.layer.extend(own, above.names.of(`${app.prefix}/*`, own))
}

/** Adds one hook per phase. They cover earlier routes, routes of child instances, and requests without a route. */
function addHooks(app: Home): void {
  if (!app.hasRequestDecorator('sluice')) app.decorateRequest('sluice', undefined)
  app.decorateRequest(ADMITTED, false)
  app.addHook('onRequest', function (this: Home, request, reply, done) {
    const part = partOf(this, request)
    if (part.phase === 'onRequest') check(part, request, reply, done)
    else done()
  })
  // for routes declared before the plugin, and for requests that skip the hook above, such as with `callNotFound`
  app.addHook('preHandler', function (this: Home, request: MarkedRequest, reply, done) {
    // the config is read last, because Fastify creates an object each time
    if (request[ADMITTED] || (routeConfigOf(request) as Config)[CHECKS_LIMITS]) done()
    else check(partOf(this, request), request, reply, done)
  })
  app.addHook('onRoute', function (this: Home, route) {
    refuseMisplaced(this, route)
    prepare(this[HOME] as Registration, route)
  })
}

function check({ limits }: Part, request: MarkedRequest, reply: FastifyReply, done: Done): void {
  request[ADMITTED] = true
  checkInHook(limits, request, reply, done)
}

function partOf(app: Home, request: FastifyRequest): Part {
  const config: Config = routeConfigOf(request)
  const { parts, routes, phase } = app[HOME] as Registration
  const known = parts.get(config)
  if (known) return known
  const layer = routes.ofExistingRoute(routeOf(config, config[CONSTRAINTS]))
  const { limits } = layer
  // if the options of a route are ignored, so is its phase
  const part = { limits, phase: layer === routes.above ? phase : (config.sluice?.phase ?? phase) }
  // the default 404 handler, which ends with its response, has no config
  const hasHandler = config.url !== undefined || config.sluice !== undefined
  if (hasHandler && !config[SIGNALS_END] && limits.some(waitsForHandler)) {
    const [received, remedy] =
      config.url === undefined
        ? ['a 404 handler', 'limit it by .wrap(handler) instead']
        : [`the route ${config.url}, which was declared before the plugin`, AWAIT_PLUGIN]
    const then = `its permits are released when the response ends; ${remedy}`
    warnOnce('SLUICE_BAD_OPTION', `holdUntil: expected 'response', received 'handler' for ${received}; ${then}`)
  }
  parts.set(config, part)
  return part
}

function waitsForHandler({ holdUntil }: HttpLimit<FastifyRequest, FastifyReply>): boolean {
  return holdUntil === 'handler'
}

function routeOf({ url, method, sluice }: Config, constraints: string | undefined): RouteInfo<FastifyRouteLimits> {
  return { url: routePattern(url), method, constraints, own: sluice }
}

/** Throws if the config of a route is invalid, and wraps its handler for what hooks cannot do. */
function prepare({ routes, phase }: Registration, route: RouteOptions): void {
  const { url, method, constraints, config } = route
  const own = Object.entries(constraints ?? {}).map(([name, value]) => `${name}=${String(value)}`)
  // requests do not expose the constraints of their route, but they expose its config
  if (own.length > 0) route.config = { ...config, [CONSTRAINTS]: own.join() } as FastifyContextConfig
  const { limits } = routes.of(routeOf({ ...config, url, method }, own.join()))
  if (limits.some(waitsForHandler)) reportEndToCaps(route)
  if ((config?.sluice?.phase ?? phase) === 'preHandler')
    checkAfterHooks(route, (app, request) => partOf(app, request).limits)
}

/**
 * Throws if a route declares its limits outside of `config.sluice`, where nothing reads them. `config.rateLimit` is
 * accepted if @fastify/rate-limit, which reads it, is registered.
 */
function refuseMisplaced(app: FastifyInstance, { url, config, ...route }: RouteOptions): void {
  const refuse = (owner: string, options: object, names: readonly string[]): void => {
    const name = names.find((one) => isLimit((options as Readonly<Record<string, unknown>>)[one]))
    if (name === undefined) return
    const expected = name === 'sluice' ? 'config: { sluice: { … } }' : `config: { sluice: { ${name}: … } }`
    const received = `${name}, which nothing reads here`
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected ${expected}, received ${received}`)
  }
  refuse(`route ${url}`, route, ['sluice', ...LIMITS])
  refuse(`route ${url}: config`, config ?? {}, app.hasDecorator('rateLimit') ? LIMITS.slice(1) : LIMITS)
}

function isLimit(value: unknown): boolean {
  return value === false || (typeof value === 'object' && value !== null)
}
