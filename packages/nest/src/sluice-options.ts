import type { ModuleMetadata } from '@nestjs/common'
import {
  type Backend,
  type InflightLimitOptions,
  kindOf,
  LIMIT_PLACES,
  optionalBoolean,
  optionsOf,
  type RateLimitOptions,
  type ShedOptions,
  SLUICE_OPTIONS,
  type SlowDownOptions,
  SluiceError,
  type SluiceOptions,
} from '@sluice/node-http/adapter'
import type { PoliciesOptions } from '@sluice/node-http/shared'
import { type CallKind, TYPES_OF_MODULE } from './exchange/call-kind.ts'
import type { PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'

type Policies = Extract<PoliciesOptions<PlatformRequest, PlatformResponse>['policies'], readonly unknown[]>

/** Limits of an application for one kind of call. */
export interface NestContextLimits {
  /** Load shedding for all calls. It comes before all other limits. */
  readonly shed?: ShedOptions<PlatformRequest, PlatformResponse> | undefined
  /** Rate limit of all calls together. */
  readonly rateLimit?: RateLimitOptions<PlatformRequest, PlatformResponse> | undefined
  /** Slow-down of all calls together. */
  readonly slowDown?: SlowDownOptions<PlatformRequest, PlatformResponse> | undefined
  /** Cap on all concurrent calls together. */
  readonly inflightLimit?: InflightLimitOptions<PlatformRequest, PlatformResponse> | undefined
}

/** Options of `SluiceModule.forRoot`. */
export interface SluiceModuleOptions extends SluiceOptions<Backend> {
  /** Policies for `@RateLimit('name')`, which count nothing otherwise. All decorators with one name share its count. */
  readonly policies?: Policies | undefined
  /** Load shedding for all routes. It comes before all other limits. */
  readonly shed?: ShedOptions<PlatformRequest, PlatformResponse> | undefined
  /** Rate limit of all routes together. */
  readonly rateLimit?: RateLimitOptions<PlatformRequest, PlatformResponse> | undefined
  /** Slow-down of all routes together. */
  readonly slowDown?: SlowDownOptions<PlatformRequest, PlatformResponse> | undefined
  /** Cap on the concurrent requests of all routes together. */
  readonly inflightLimit?: InflightLimitOptions<PlatformRequest, PlatformResponse> | undefined
  /**
   * Limits of calls that are not HTTP requests, by the type of their context: `rpc` for messages and events of
   * microservices, `ws` for gateways, or a type of another library. Default: no limits, except for gateways that bind
   * the guard, which have the limits above with counts of their own. Key functions receive the context of an `rpc` call,
   * the client of a `ws` message, and the first argument of any other call.
   */
  readonly contexts?: Readonly<Record<string, NestContextLimits>> | undefined
}

/** Options of `SluiceModule.forRoot` and `forRootAsync` that decide where the limits apply. */
export interface SluiceModulePlacement {
  /** Whether every module can use the guard and the interceptor. Default: true. */
  readonly global?: boolean | undefined
  /**
   * Whether the guard runs for every route, and the interceptor if a limit of the module is a cap or has work to do at the
   * end of a call. If false, bind them with `@UseGuards(SluiceGuard)` and `@UseInterceptors(SluiceInterceptor)`. Default:
   * true.
   */
  readonly bind?: boolean | undefined
}

/** Options of `SluiceModule.forRootAsync`. */
export interface SluiceModuleAsyncOptions extends SluiceModulePlacement, Pick<ModuleMetadata, 'imports'> {
  // biome-ignore lint/suspicious/noExplicitAny: Nest's type of injection tokens
  readonly inject?: any[] | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a factory can inject values of any type
  readonly useFactory: (...injected: any[]) => SluiceModuleOptions | Promise<SluiceModuleOptions>
}

const LIMITS = [
  'shed',
  'rateLimit',
  'slowDown',
  'inflightLimit',
] as const satisfies readonly (keyof NestContextLimits)[]
const OPTIONS = ['policies', ...LIMITS, 'contexts', ...SLUICE_OPTIONS] as const

/** Returns the limits in the options of an import. `kind`: on a backend, they get counts of their own. */
export function limitsIn(options: NestContextLimits, kind?: CallKind): NestContextLimits {
  const { shed, rateLimit, slowDown, inflightLimit } = options
  if (kind === undefined) return { shed, rateLimit, slowDown, inflightLimit }
  return { shed, rateLimit: inScope(rateLimit, kind), slowDown: inScope(slowDown, kind), inflightLimit }
}

function inScope<T extends { readonly scope?: string | undefined }>(options: T | undefined, kind: CallKind) {
  return options?.scope === undefined ? options : { ...options, scope: `${options.scope}:${kind}` }
}

const OWNER = 'SluiceModule.forRoot'
const PLACEMENT = ['global', 'bind'] as const
const NAMES = [...OPTIONS, ...PLACEMENT]
const ASYNC_OPTIONS = ['imports', 'inject', 'useFactory', ...PLACEMENT] as const
const FACTORY_PLACES = { 'in the result of useFactory': OPTIONS, ...LIMIT_PLACES }

/** Validates the names of the options of `forRoot`. Returns the options of the module. Throws `SLUICE_BAD_OPTION`. */
export function forRootOptions(options: SluiceModuleOptions & SluiceModulePlacement): SluiceModuleOptions {
  const named = optionsOf<SluiceModuleOptions & SluiceModulePlacement>(OWNER, options, NAMES, LIMIT_PLACES)
  const { global, bind, ...own } = placed(named)
  return own
}

/** Validates the options of `forRootAsync` and returns them. Throws `SLUICE_BAD_OPTION`. */
export function asyncOptions(options: SluiceModuleAsyncOptions): SluiceModuleAsyncOptions {
  const owner = `${OWNER}Async`
  const { useFactory } = placed(optionsOf(owner, options, ASYNC_OPTIONS, FACTORY_PLACES))
  if (typeof useFactory === 'function') return options
  const expected = 'a function that returns the options of forRoot'
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${owner}: useFactory: expected ${expected}, received ${kindOf(useFactory)}`,
  )
}

function placed<T extends SluiceModulePlacement>(options: T): T {
  for (const name of PLACEMENT) optionalBoolean(name, options[name])
  return options
}

/** Validates the options of the module and returns them. Throws `SLUICE_BAD_OPTION`. */
export function moduleOptions(options: SluiceModuleOptions): SluiceModuleOptions {
  optionsOf<SluiceModuleOptions>(OWNER, options, OPTIONS, LIMIT_PLACES)
  checkContexts(options)
  const { policies = [] } = options
  if (Array.isArray(policies)) return options
  throw new SluiceError('SLUICE_BAD_OPTION', `policies: expected an array of policies, received ${kindOf(policies)}`)
}

function checkContexts({ contexts }: SluiceModuleOptions): void {
  if (contexts === undefined) return
  const types = Object.keys(contexts ?? {})
  for (const [type, limits] of Object.entries(optionsOf('contexts', contexts, types))) {
    if (TYPES_OF_MODULE.includes(type)) {
      const expected = 'expected types of other calls, because the limits of the module apply to HTTP and GraphQL'
      throw new SluiceError('SLUICE_BAD_OPTION', `contexts: ${expected}, received ${type}`)
    }
    optionsOf<NestContextLimits>(`contexts.${type}`, limits, LIMITS)
  }
}
