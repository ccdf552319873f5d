export * from '@sluice/limiter-core'
export { admitAll } from './admit-all.ts'
export { afterCheck } from './after-check.ts'
export { type AnswerOptions, answerBody, answerDenied, type DenialError, denialError } from './answer-denied.ts'
export { mustBeCalled } from './called-makers.ts'
export {
  type ConnectHandler,
  type ConnectMiddleware,
  connectMount,
  type Holder,
  held,
  type Next,
  type WrappedHandler,
} from './connect.ts'
export { type DecoratedLimiters, type LimitDecorators, withDecorators } from './decorators.ts'
export { writeDenialHead, writeHeaderLines } from './denial-writer.ts'
export { errorAt } from './error-at.ts'
export { Exchange } from './exchange.ts'
export { type ExpressRequest, expressMethod, expressPattern } from './express-route.ts'
export { type ContinueGuard, type ContinueGuardOptions, guardContinue } from './guard-continue.ts'
export {
  type Admission,
  type DeniedRequest,
  type HttpLimit,
  type InflightHandle,
  isDeniedRequest,
  type RateHandle,
  type SlowHandle,
} from './http-limit.ts'
export { type ConnectionLimit, type ConnectionLimitOptions, limitConnections } from './limit-connections.ts'
export type { LimitDecorator } from './limit-decorator.ts'
export { type LayerOptions, LimitLayer } from './limit-layer.ts'
export { limitUpgrade, type SocketCapOptions, type UpgradeLimit, type UpgradeLimitOptions } from './limit-upgrade.ts'
export {
  type LimiterMakers,
  type Limiters,
  limitersFor,
  type SharedWith,
  SLUICE_OPTIONS,
  type Sluice,
  type SluiceOptions,
  sharing,
} from './limiters.ts'
export {
  createSluice,
  InflightLimit,
  inflightLimit,
  RateLimit,
  rateLimit,
  SlowDown,
  slowDown,
} from './node-http.ts'
export { PlaceNames } from './place-names.ts'
export { warnAboutExpressTrust, warnAboutFastifyOption, warnTrustsAnyone, warnUntrustedProxy } from './proxy-trust.ts'
export { ReplyExchange } from './reply-exchange.ts'
export { soleHeader } from './request-headers.ts'
export { type Ending, RequestLife } from './request-life.ts'
export { RequestLifecycle } from './request-lifecycle.ts'
export { type RouteConfig, routeConfigOf, routePattern } from './route-config.ts'
export { RouteLayers, type RouteOfLayers } from './route-layers.ts'
export { routeMethod } from './route-method.ts'
export type { UpgradeListener } from './upgrade-exchange.ts'
