import { createLimiter, type Limiter, type LimiterOptions, type OnePolicyLimiterOptions } from '@sluice/limiter-core'
import {
  type Answer,
  type Backend,
  backendOf,
  type Clock,
  clockOf,
  compileFailover,
  type Decision,
  type FailoverOptions,
  isRequest,
  type Observer,
  Observers,
  optionsOf,
} from '@sluice/limiter-core/http'
import { TrustedProxies } from '../client/trusted-proxies.ts'
import type { InflightLimitOptions } from '../gates/options/inflight-limit-options.ts'
import { withInherited } from '../gates/options/inherited-options.ts'
import { RATE_LIMIT_OPTIONS } from '../gates/options/rate-inputs.ts'
import type { RateLimitOptions } from '../gates/options/rate-limit-options.ts'
import type { ShedOptions } from '../gates/shed/shed-options.ts'
import type { SlowDownOptions } from '../gates/slow-down/slow-down-options.ts'
import type { ProxyTrustOption } from '../proxy-trust.ts'
import { HttpInflightLimit } from './http-inflight-limit.ts'
import type { HttpLimit, InflightHandle, RateHandle, ShedHandle, SlowDownHandle } from './http-limit.ts'
import { HttpRateLimit } from './http-rate-limit.ts'
import { HttpShed } from './http-shed.ts'
import { HttpSlowDown } from './http-slow-down.ts'

/** Options that all limiters of an application share. */
export interface SluiceOptions<B extends Backend = Backend<Answer>> extends FailoverOptions {
  /** Stores the counts of all limiters that have no backend of their own. Default: memory, separate for each limiter. */
  readonly backend?: B | undefined
  /** Time source of all limiters, which tests replace. Default: the time of the process. */
  readonly clock?: Clock | undefined
  /** Proxies in front of the application, for all limiters. Default: the framework's setting. */
  readonly trust?: ProxyTrustOption | undefined
  /** Receive the events of all limiters, in addition to the observers of each limiter. */
  readonly observers?: readonly Observer[] | undefined
}

/** Functions that create the limiters of a framework. `Mounted` is what the framework accepts: middleware or a hook. */
export interface LimiterFactories<Req, Res, Mounted, Extra = unknown> {
  rateLimit<Plan extends string = string>(options: RateLimitOptions<Req, Res, Plan> & Extra): Mounted & RateHandle
  inflightLimit(options: InflightLimitOptions<Req, Res> & Extra): Mounted & InflightHandle
  slowDown(options: SlowDownOptions<Req, Res> & Extra): Mounted & SlowDownHandle
  shed(options?: ShedOptions<Req, Res> & Extra): Mounted & ShedHandle
}

/**
 * Functions that create limiters with shared settings: a backend, a rule for backend failures, a clock and observers.
 * Options of a limiter override these settings, except observers, which are added.
 */
export interface Sluice<Req, Res, Mounted, Extra = unknown, B extends Backend = Backend<Answer>>
  extends LimiterFactories<Req, Res, Mounted, Extra> {
  /** Creates a framework-free limiter. Its methods are synchronous if the shared backend is. */
  limiter(options: LimiterOptions | OnePolicyLimiterOptions): B extends Backend<Answer> ? Limiter<Decision> : Limiter
}

/** Functions that the package of a framework exports. */
export interface Limiters<Req, Res, Mounted, Extra = unknown> extends LimiterFactories<Req, Res, Mounted, Extra> {
  createSluice<B extends Backend = Backend<Answer>>(options?: SluiceOptions<B>): Sluice<Req, Res, Mounted, Extra, B>
}

/** Turns a limit into what the framework accepts. */
type Mount<Req, Res, Mounted> = (limit: HttpLimit<Req, Res>) => Mounted

/** Creates `rateLimit` of a framework. `adapterOptions` are names of options that only this framework has. */
export function rateLimitFor<Req, Res, Mounted extends object, Extra = unknown>(
  mount: Mount<Req, Res, Mounted>,
  adapterOptions: readonly string[] = [],
): LimiterFactories<Req, Res, Mounted, Extra>['rateLimit'] {
  return function rateLimit(options) {
    const rate = HttpRateLimit.of<Req, Res>(options, adapterOptions)
    const mounted = Object.assign(mount(rate), { idle: () => rate.idle(), close: () => rate.close() })
    // another limiter takes its place when the policies change
    return Object.defineProperty(mounted, 'limiter', {
      get: () => rate.gate.limiter(),
      enumerable: true,
    }) as typeof mounted & RateHandle
  }
}

/** Creates `inflightLimit` of a framework. */
export function inflightLimitFor<Req, Res, Mounted extends object, Extra = unknown>(
  mount: Mount<Req, Res, Mounted>,
  adapterOptions: readonly string[] = [],
): LimiterFactories<Req, Res, Mounted, Extra>['inflightLimit'] {
  return function inflightLimit(options) {
    const cap = HttpInflightLimit.of<Req, Res>(options, adapterOptions)
    return Object.assign(mount(cap), { limiter: cap.gate.limiter, close: () => cap.close() })
  }
}

/** Creates `slowDown` of a framework. */
export function slowDownFor<Req, Res, Mounted extends object, Extra = unknown>(
  mount: Mount<Req, Res, Mounted>,
  adapterOptions: readonly string[] = [],
): LimiterFactories<Req, Res, Mounted, Extra>['slowDown'] {
  return function slowDown(options) {
    const slow = HttpSlowDown.of<Req, Res>(options, adapterOptions)
    const limiter = slow.gate.rate.limiter()
    return Object.assign(mount(slow), { limiter, waiting: () => slow.waiting, close: () => slow.close() })
  }
}

/** Creates `shed` of a framework. */
export function shedFor<Req, Res, Mounted extends object, Extra = unknown>(
  mount: Mount<Req, Res, Mounted>,
  adapterOptions: readonly string[] = [],
): LimiterFactories<Req, Res, Mounted, Extra>['shed'] {
  return function shed(options) {
    const shed = HttpShed.of<Req, Res>(options, adapterOptions)
    return Object.assign(mount(shed), { shedder: shed.gate.shedder, close: () => shed.close() })
  }
}

/** Creates `createSluice` of a framework. */
export function createSluiceFor<Req, Res, Mounted extends object, Extra = unknown>(
  mount: Mount<Req, Res, Mounted>,
  adapterOptions: readonly string[] = [],
): Limiters<Req, Res, Mounted, Extra>['createSluice'] {
  return limitersFor<Req, Res, Mounted, Extra>(mount, adapterOptions).createSluice
}

/**
 * Creates the functions that the package of a framework exports. `mount` turns a limit into what the framework accepts;
 * `adapterOptions` are names of options that only this framework has. Bundlers leave out unused functions only if the
 * package creates them separately, by `rateLimitFor` and others.
 */
export function limitersFor<Req, Res, Mounted extends object, Extra = unknown>(
  mount: Mount<Req, Res, Mounted>,
  adapterOptions: readonly string[] = [],
): Limiters<Req, Res, Mounted, Extra> {
  const makers: LimiterFactories<Req, Res, Mounted, Extra> = {
    rateLimit: rateLimitFor(mount, adapterOptions),
    inflightLimit: inflightLimitFor(mount, adapterOptions),
    slowDown: slowDownFor(mount, adapterOptions),
    shed: shedFor(mount, adapterOptions),
  }
  return { ...makers, createSluice: (shared) => sluiceOf(makers, shared) }
}

interface Watchable {
  readonly observers?: readonly Observer[] | undefined
}

/** Adds shared options to the options of a limiter, which take precedence. Observers of both are used. */
export interface SharedOptions {
  /** Adds all shared options, for rate limits and slow-downs. */
  withBackend<T extends Watchable>(options: T): T
  /**
   * Adds the shared clock, trusted proxies and observers, for caps and load shedding: the shared backend does
   * not count for them.
   */
  withObservers<T extends Watchable>(options: T): T
}

/** Names of the options that all limiters of an application share. */
export const SLUICE_OPTIONS: readonly (keyof SluiceOptions)[] = [
  'backend',
  'onBackendError',
  'deadlineMs',
  'clock',
  'trust',
  'observers',
]

/** Compiles shared options. Throws coded errors if they are invalid. */
export function compileSharedOptions(options: SluiceOptions<Backend>): SharedOptions {
  const { backend, onBackendError, deadlineMs, clock, trust, observers = [] } = options
  compileFailover(options)
  // throws if `observers` is not a list of observers
  new Observers(observers)
  if (trust !== undefined) new TrustedProxies(trust)
  if (backend !== undefined) backendOf(backend, 'backend')
  if (clock !== undefined) clockOf(clock)
  const withObservers = <T extends Watchable>(options: T): T =>
    added(options, { ...(clock && { clock }), ...(trust !== undefined && { trust }) }, (given) =>
      observers.length === 0 ? {} : { observers: observers.concat(given.observers ?? []) },
    )
  const counted = {
    ...(backend && { backend }),
    ...(onBackendError !== undefined && { onBackendError }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  }
  return { withObservers, withBackend: (options) => withObservers(added(options, counted)) }
}

/** Returns a value that cannot be options unchanged; the code that reads the options rejects it. */
function added<T extends Watchable>(options: T, before: object = {}, after: (given: T) => object = () => ({})): T {
  if (typeof options !== 'object' || options === null || isRequest(options)) return options
  return { ...withInherited(options, before), ...after(options) }
}

const RESULT_PLACES = { 'in rateLimit({ … }) of its result': RATE_LIMIT_OPTIONS }

function sluiceOf<Req, Res, Mounted, Extra, B extends Backend>(
  makers: LimiterFactories<Req, Res, Mounted, Extra>,
  shared: SluiceOptions<B> = {},
): Sluice<Req, Res, Mounted, Extra, B> {
  const { withBackend, withObservers } = compileSharedOptions(
    optionsOf('createSluice', shared, SLUICE_OPTIONS, RESULT_PLACES),
  )
  return {
    rateLimit: (options) => makers.rateLimit(withBackend(options)),
    inflightLimit: (options) => makers.inflightLimit(withObservers(options)),
    slowDown: (options) => makers.slowDown(withBackend(options)),
    shed: (options) => makers.shed(withObservers(options ?? ({} as NonNullable<typeof options>))),
    limiter: (options) =>
      createLimiter(withBackend(options)) as unknown as B extends Backend<Answer> ? Limiter<Decision> : Limiter,
  }
}
