export * from '@sluice/node-http/shared'
export type { PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'
export { InflightLimit, type LimitDecorator, RateLimit, Shed, SkipLimits, SlowDown } from './limit-decorators.ts'
export {
  createSluice,
  explainClient,
  inflightLimit,
  type NestInflightLimitOptions,
  type NestLimiterFactories,
  type NestRateLimitOptions,
  type NestShedOptions,
  type NestSlowDownOptions,
  type NestSluice,
  rateLimit,
  shed,
  slowDown,
} from './nest-limiters.ts'
export { type DeniedExtensions, SluiceDenied } from './sluice-denied.ts'
export { SluiceFilter } from './sluice-filter.ts'
export { SluiceGuard } from './sluice-guard.ts'
export { SluiceInterceptor } from './sluice-interceptor.ts'
export { SluiceModule } from './sluice-module.ts'
export type {
  NestContextLimits,
  SluiceModuleAsyncOptions,
  SluiceModuleOptions,
  SluiceModulePlacement,
} from './sluice-options.ts'
