import type { ModuleMetadata } from '@nestjs/common'
import {
  type Backend,
  type InflightLimitOptions,
  kindOf,
  optionsOf,
  type RateLimitOptions,
  SLUICE_OPTIONS,
  type SlowDownOptions,
  SluiceError,
  type SluiceOptions,
} from '@sluice/node-http/adapter'
import type { PoliciesOptions } from '@sluice/node-http/words'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'

type Policies = PoliciesOptions<PlatformRequest, PlatformResponse>['policies']

/** The limits of an application. */
export interface SluiceModuleOptions extends SluiceOptions<Backend> {
  /** Rates that count nothing until `@RateLimit('name')` names them. All who name one share its count. */
  readonly policies?: Policies | undefined
  /** For every route. */
  readonly rateLimit?: RateLimitOptions<PlatformRequest, PlatformResponse> | undefined
  /** For every route. */
  readonly slowDown?: SlowDownOptions<PlatformRequest, PlatformResponse> | undefined
  /** For every route. */
  readonly inflightLimit?: InflightLimitOptions<PlatformRequest, PlatformResponse> | undefined
}

/** How the module stands in the application. */
export interface SluiceModulePlacement {
  /** Default: true. Guard and interceptor can be used in every module. */
  readonly global?: boolean | undefined
  /** Default: true. Guard and interceptor run for every route. `false` leaves it to `@UseGuards(SluiceGuard)`. */
  readonly bind?: boolean | undefined
}

/** Options that come of providers. */
export interface SluiceModuleAsyncOptions extends SluiceModulePlacement, Pick<ModuleMetadata, 'imports'> {
  // biome-ignore lint/suspicious/noExplicitAny: tokens of providers, as Nest types them
  readonly inject?: any[]
  // biome-ignore lint/suspicious/noExplicitAny: what is injected
  readonly useFactory: (...injected: any[]) => SluiceModuleOptions | Promise<SluiceModuleOptions>
}

const OPTIONS = ['policies', 'rateLimit', 'slowDown', 'inflightLimit', ...SLUICE_OPTIONS] as const

/** Throws `SLUICE_BAD_OPTION` for what is none of the options. */
export function moduleOptions(options: SluiceModuleOptions): SluiceModuleOptions {
  optionsOf<SluiceModuleOptions>('SluiceModule', options, OPTIONS)
  const { policies = [] } = options
  if (Array.isArray(policies)) return options
  throw new SluiceError('SLUICE_BAD_OPTION', `policies: expected a list of policies, received ${kindOf(policies)}`)
}
