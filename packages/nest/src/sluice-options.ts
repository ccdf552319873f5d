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
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'

type Policies = Extract<PoliciesOptions<PlatformRequest, PlatformResponse>['policies'], readonly unknown[]>

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
}

/** Options of `SluiceModule.forRoot` and `forRootAsync` that decide where the limits apply. */
export interface SluiceModulePlacement {
  /** Whether every module can use the guard and the interceptor. Default: true. */
  readonly global?: boolean | undefined
  /**
   * Whether the guard and the interceptor run for every route. If false, bind them with `@UseGuards(SluiceGuard)` and
   * `@UseInterceptors(SluiceInterceptor)`. Default: true.
   */
  readonly bind?: boolean | undefined
}

/** Options of `SluiceModule.forRootAsync`. */
export interface SluiceModuleAsyncOptions extends SluiceModulePlacement, Pick<ModuleMetadata, 'imports'> {
  // biome-ignore lint/suspicious/noExplicitAny: Nest's type of injection tokens
  readonly inject?: any[]
  // biome-ignore lint/suspicious/noExplicitAny: a factory can inject values of any type
  readonly useFactory: (...injected: any[]) => SluiceModuleOptions | Promise<SluiceModuleOptions>
}

const OPTIONS = ['policies', 'shed', 'rateLimit', 'slowDown', 'inflightLimit', ...SLUICE_OPTIONS] as const

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
  const { policies = [] } = options
  if (Array.isArray(policies)) return options
  throw new SluiceError('SLUICE_BAD_OPTION', `policies: expected an array of policies, received ${kindOf(policies)}`)
}
