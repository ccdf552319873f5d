export {
  type Backend,
  byAll,
  byHeader,
  byIp,
  byPrincipal,
  byRoute,
  type Clock,
  type CostSource,
  createInflightLimiter,
  createLimiter,
  DENY,
  type Decision,
  type DeniedContext,
  type Duration,
  EXEMPT,
  type InflightLimiter,
  type KeySource,
  type Limiter,
  type MemoryBackendOptions,
  memoryBackend,
  type Observer,
  type Permit,
  type Policy,
  type PolicyInput,
  type PolicyVerdict,
  type RequestSluice,
  type SettleContext,
  type SlowDownOptions,
  SluiceError,
  waitFor,
} from '@sluice/node-http'
export { InflightLimit, type LimitDecorator, RateLimit, SkipLimits, SlowDown } from './limit-words.ts'
export type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'
export {
  createSluice,
  inflightLimit,
  type NestInflightLimitOptions,
  type NestRateLimitOptions,
  type NestSlowDownOptions,
  rateLimit,
  slowDown,
} from './nest-limiters.ts'
export { type DeniedExtensions, SluiceDenied } from './sluice-denied.ts'
export { SluiceFilter } from './sluice-filter.ts'
export { SluiceGuard } from './sluice-guard.ts'
export { SluiceInterceptor } from './sluice-interceptor.ts'
export { SluiceModule } from './sluice-module.ts'
export type { SluiceModuleAsyncOptions, SluiceModuleOptions, SluiceModulePlacement } from './sluice-options.ts'
