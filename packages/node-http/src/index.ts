export * from '@sluice/limiter-core'
export { type AnswerOptions, answerDenied, type DenialError, denialError } from './answer-denied.ts'
export { type ConnectHandler, type ConnectMiddleware, connectMount, type Next, type WrappedHandler } from './connect.ts'
export { writeDenialHead, writeHeaderLines } from './denial-writer.ts'
export { Exchange } from './exchange.ts'
export { admitAll, type LayerOptions, type LayerRefusal, LimitLayer } from './limit-layer.ts'
export {
  type LimiterMakers,
  type Limiters,
  limitersFor,
  type SharedWith,
  type Sluice,
  type SluiceOptions,
  sharing,
} from './limiters.ts'
export { createSluice, inflightLimit, rateLimit, slowDown, warnTrustsAnyone, warnUntrustedProxy } from './node-http.ts'
export { soleHeader } from './request-headers.ts'
export { type Ending, RequestLife } from './request-life.ts'
export { RequestLifecycle } from './request-lifecycle.ts'
export {
  type Admission,
  type InflightHandle,
  isRefusal,
  type RateHandle,
  type Refusal,
  type RequestLimit,
  type SlowHandle,
} from './request-limit.ts'
