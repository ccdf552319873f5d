import {
  type HttpLimit,
  LimitLayer,
  optionsOf,
  RouteLayers,
  type RouteOfLayers,
  RouteScopeNames,
  routeConfigOf,
  routePattern,
  SLUICE_OPTIONS,
  SluiceError,
  sharing,
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
import fp from 'fastify-plugin'
import { type Done, enter } from './fastify-mount.ts'
import {
  ADMITTED,
  CHECKS_LIMITS,
  CONSTRAINTS,
  type Config,
  checksAfterHooks,
  type Met,
  SIGNALS_END,
  signalsEnd,
} from './limited-route.ts'
import {
  FASTIFY_OPTIONS,
  type FastifyPhase,
  type FastifyRouteLimits,
  type FastifySluiceOptions,
} from './sluice-options.ts'

type Layer = LimitLayer<FastifyRequest, FastifyReply>

/** What a request meets. */
interface Part {
  readonly limits: Layer['limits']
  readonly phase: FastifyPhase
}

/** What was said for an instance, which its children inherit. */
interface Registration {
  readonly layer: Layer
  readonly phase: FastifyPhase
  readonly routes: RouteLayers<FastifyRequest, FastifyReply, FastifyRouteLimits>
  /** By config, of which every route has one of its own. */
  readonly parts: WeakMap<object, Part>
  /** Of the instances and routes of the whole application. */
  readonly names: RouteScopeNames
}

const HOME = Symbol.for('sluice.fastify@1')

type Home = FastifyInstance & { [HOME]?: Registration }

const ROUTE = ['rateLimit', 'slowDown', 'inflightLimit', 'skipLimits', 'phase'] as const
const APPLICATION = [...ROUTE, ...SLUICE_OPTIONS] as const

/**
 * Limits of an application: `await app.register(sluice, { rateLimit: { limit: 100, window: '1m' } })`. Registered once
 * more in a child it says what is different for the routes there.
 */
export const sluice: FastifyPluginAsync<FastifySluiceOptions> = fp(
  async (app: Home, options: FastifySluiceOptions) => {
    const own = checked('register(sluice)', withoutFastifys(options), APPLICATION)
    const above = app[HOME]
    const layer = above ? layerBelow(app, above, own) : uppermostLayer(app, own)
    const phase = own.phase ?? above?.phase ?? 'onRequest'
    const names = above?.names ?? new RouteScopeNames()
    const routes = new RouteLayers<FastifyRequest, FastifyReply, FastifyRouteLimits>(layer, names, (route) =>
      checked('config.sluice', route, ROUTE),
    )
    app[HOME] = { layer, phase, routes, parts: new WeakMap(), names }
  },
  { name: '@sluice/fastify', fastify: '>=4 <6' },
)

/** Fastify hands a plugin what is meant for itself, too. */
function withoutFastifys(options: FastifySluiceOptions): FastifySluiceOptions {
  const { prefix, logLevel, logSerializers, ...own } = options as Record<string, unknown>
  return own
}

function checked<T extends FastifyRouteLimits>(owner: string, own: T, known: readonly (keyof T & string)[]): T {
  const { phase } = optionsOf(owner, own, known)
  if (phase === undefined || phase === 'onRequest' || phase === 'preHandler') return own
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `phase: expected one of 'onRequest', 'preHandler', received ${shown(phase, 'phase')}`,
  )
}

const uppermost = new WeakMap<object, FastifyInstance[]>()

function uppermostLayer(app: Home, options: FastifySluiceOptions): Layer {
  const others = uppermost.get(app.server) ?? []
  if (others.some((other) => Object.prototype.isPrototypeOf.call(app, other))) {
    // its routes would meet the limits of the part alone
    const expected = 'expected it before its parts'
    throw new SluiceError('SLUICE_BAD_OPTION', `register(sluice): got an application after a part of it, ${expected}`)
  }
  uppermost.set(app.server, [...others, app])
  const nothing: Layer = LimitLayer.none(FASTIFY_OPTIONS, sharing(options))
  const { rateLimit, slowDown, inflightLimit, skipLimits } = options
  const layer = nothing.below({ rateLimit, slowDown, inflightLimit, skipLimits }, 'default')
  closing(app, nothing)
  watch(app)
  warnAboutFastifyOption(app)
  return layer
}

/** Who waits goes on before the server waits for its last answers; limits end with the last request. */
function closing(app: Home, layer: Layer): void {
  app.addHook('onClose', async () => layer.close())
  try {
    app.addHook('preClose', async () => layer.letGo())
  } catch {
    // the first versions of Fastify 4 know no such hook
  }
}

function layerBelow(app: Home, above: Registration, options: FastifySluiceOptions): Layer {
  const { rateLimit, slowDown, inflightLimit, skipLimits } = options
  const { counted, watched } = sharing(options)
  const own = {
    rateLimit: rateLimit && counted(rateLimit),
    slowDown: slowDown && counted(slowDown),
    inflightLimit: inflightLimit && watched(inflightLimit),
    skipLimits,
  }
  return above.layer.below(own, above.names.of(`${app.prefix}/*`, own))
}

/** One hook for each phase covers routes that were there before, those of children, and requests without a route. */
function watch(app: Home): void {
  if (!app.hasRequestDecorator('sluice')) app.decorateRequest('sluice', undefined)
  app.decorateRequest(ADMITTED, false)
  app.addHook('onRequest', function (this: Home, request, reply, done) {
    const part = partOf(this, request)
    if (part.phase === 'onRequest') meet(part, request, reply, done)
    else done()
  })
  // for routes that were there before, and for who was sent past the hook above, as by `callNotFound`
  app.addHook('preHandler', function (this: Home, request: Met, reply, done) {
    const config: Config = routeConfigOf(request)
    if (request[ADMITTED] || config[CHECKS_LIMITS]) done()
    else meet(partOf(this, request), request, reply, done)
  })
  app.addHook('onRoute', function (this: Home, route) {
    prepare(this[HOME] as Registration, route)
  })
}

function meet({ limits }: Part, request: Met, reply: FastifyReply, done: Done): void {
  request[ADMITTED] = true
  enter(limits, request, reply, done)
}

function partOf(app: Home, request: FastifyRequest): Part {
  const config: Config = routeConfigOf(request)
  const { parts, routes, phase } = app[HOME] as Registration
  const known = parts.get(config)
  if (known) return known
  const layer = routes.ofLate(routeOf(config, config[CONSTRAINTS]))
  const { limits } = layer
  // of a route that is ignored the phase is ignored as well
  const part = { limits, phase: layer === routes.above ? phase : (config.sluice?.phase ?? phase) }
  if (config.url !== undefined && !config[SIGNALS_END] && limits.some(waitsForHandler)) {
    const got = `got 'handler' for the route ${config.url}, which was declared before the plugin`
    warnOnce('SLUICE_BAD_OPTION', `holdUntil: ${got}: expected await app.register(sluice, …) before it`)
  }
  parts.set(config, part)
  return part
}

function waitsForHandler({ holdUntil }: HttpLimit<FastifyRequest, FastifyReply>): boolean {
  return holdUntil === 'handler'
}

function routeOf({ url, method, sluice }: Config, constraints: string | undefined): RouteOfLayers<FastifyRouteLimits> {
  return { url: routePattern(url), method, constraints, own: sluice }
}

/** Refuses a route whose config is bad, and makes its handler do what no hook can. */
function prepare({ routes, phase }: Registration, route: RouteOptions): void {
  const { url, method, constraints, config } = route
  const own = Object.entries(constraints ?? {}).map(([name, value]) => `${name}=${String(value)}`)
  // requests show no constraints of their route, but its config
  if (own.length > 0) route.config = { ...config, [CONSTRAINTS]: own.join() } as FastifyContextConfig
  const { limits } = routes.of(routeOf({ ...config, url, method }, own.join()))
  if (limits.some(waitsForHandler)) signalsEnd(route)
  if ((config?.sluice?.phase ?? phase) === 'preHandler')
    checksAfterHooks(route, (app, request) => partOf(app, request).limits)
}
