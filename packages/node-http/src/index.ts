export type { ConnectHandler, ConnectMiddleware, WrappedHandler } from './connect/connect.ts'
export type { Next } from './connect/next.ts'
export type { LimitDecorator } from './decorators/limit-decorator.ts'
export {
  createSluice,
  explainClient,
  InflightLimit,
  inflightLimit,
  RateLimit,
  rateLimit,
  Shed,
  SlowDown,
  shed,
  slowDown,
} from './node-http.ts'
export * from './shared-exports.ts'
