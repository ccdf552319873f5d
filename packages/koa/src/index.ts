export * from '@sluice/node-http/shared'
export {
  createSluice,
  explainClient,
  InflightLimit,
  inflightLimit,
  type KoaInflightLimitOptions,
  type KoaMiddleware,
  type KoaRateLimitOptions,
  RateLimit,
  rateLimit,
  SlowDown,
  type SluiceState,
  slowDown,
} from './koa.ts'
