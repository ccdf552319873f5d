export * from '@sluice/node-http/words'
export {
  createSluice,
  type ExpressInflightLimitOptions,
  type ExpressMiddleware,
  type ExpressOptions,
  type ExpressRateLimitOptions,
  InflightLimit,
  inflightLimit,
  RateLimit,
  rateLimit,
  SlowDown,
  slowDown,
} from './express.ts'
