export * from '@sluice/node-http/shared'
export {
  createSluice,
  type ExpressInflightLimitOptions,
  type ExpressMiddleware,
  type ExpressOptions,
  type ExpressRateLimitOptions,
  type ExpressRequest,
  type ExpressResponse,
  explainClient,
  InflightLimit,
  inflightLimit,
  RateLimit,
  rateLimit,
  Shed,
  SlowDown,
  shed,
  slowDown,
} from './express.ts'
