export * from '@sluice/limiter-core/http'
export { afterCheck } from './connect/after-check.ts'
export { type ConnectMiddleware, connectMount, holdWhile } from './connect/connect.ts'
export type { Next } from './connect/next.ts'
export { type DecoratedLimiters, withDecorators } from './decorators/decorators.ts'
export { writeDenialHead } from './denial/denial-writer.ts'
export type { DeniedRequest } from './denial/denied-request.ts'
export { sendDenial, sendDenialBody } from './denial/send-denial.ts'
export { Exchange } from './exchange/exchange.ts'
export { expressMethod, expressPattern } from './exchange/express-route.ts'
export {
  warnAboutExpressTrust,
  warnAboutFastifyOption,
  warnTrustsAllProxies,
  warnUntrustedProxy,
} from './exchange/proxy-trust.ts'
export { ReplyExchange } from './exchange/reply-exchange.ts'
export { type RouteConfig, routeConfigOf, routePattern } from './exchange/route-config.ts'
export { routeMethod } from './exchange/route-method.ts'
export { errorAt } from './layers/error-at.ts'
export { type LayerOptions, LimitLayer } from './layers/limit-layer.ts'
export { type RouteInfo, RouteLayers } from './layers/route-layers.ts'
export { RouteScopeNames } from './layers/route-scope-names.ts'
export { type Ending, RequestLife } from './lifecycle/request-life.ts'
export { RequestLifecycle } from './lifecycle/request-lifecycle.ts'
export { admitAll } from './limits/admit-all.ts'
export {
  type Admission,
  type HttpLimit,
  type InflightHandle,
  isDeniedRequest,
  type RateHandle,
  type SlowDownHandle,
} from './limits/http-limit.ts'
export { InHandlerDetector } from './limits/in-handler-detector.ts'
export {
  compileSharedOptions,
  type LimiterFactories,
  type Limiters,
  limitersFor,
  SLUICE_OPTIONS,
  type Sluice,
  type SluiceOptions,
} from './limits/limiters.ts'
export { rejectUncalled } from './limits/reject-uncalled.ts'
