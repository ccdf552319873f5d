export * from '@sluice/node-http/shared'
export {
  createSluice,
  explainClient,
  InflightLimit,
  inflightLimit,
  type KoaInflightLimitOptions,
  type KoaMiddleware,
  type KoaOptions,
  type KoaRateLimitOptions,
  RateLimit,
  rateLimit,
  Shed,
  SlowDown,
  type SluiceState,
  shed,
  slowDown,
} from './koa.ts'
