export * from '@sluice/node-http/words'
export {
  createSluice,
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
