export * from '@sluice/limiter-core/http'
export { afterCheck } from './connect/after-check.ts'
export { type ConnectMiddleware, connectMount, held } from './connect/connect.ts'
export type { Next } from './connect/next.ts'
export { type DecoratedLimiters, withDecorators } from './decorators/decorators.ts'
export { answerBody, answerDenied } from './denial/answer-denied.ts'
export { writeDenialHead } from './denial/denial-writer.ts'
export type { DeniedRequest } from './denial/denied-request.ts'
export { Exchange } from './exchange/exchange.ts'
export { expressMethod, expressPattern } from './exchange/express-route.ts'
export {
  warnAboutExpressTrust,
  warnAboutFastifyOption,
  warnTrustsAnyone,
  warnUntrustedProxy,
} from './exchange/proxy-trust.ts'
export { ReplyExchange } from './exchange/reply-exchange.ts'
export { type RouteConfig, routeConfigOf, routePattern } from './exchange/route-config.ts'
export { routeMethod } from './exchange/route-method.ts'
export { errorAt } from './layers/error-at.ts'
export { type LayerOptions, LimitLayer } from './layers/limit-layer.ts'
export { RouteLayers, type RouteOfLayers } from './layers/route-layers.ts'
export { RouteScopeNames } from './layers/route-scope-names.ts'
export { type Ending, RequestLife } from './lifecycle/request-life.ts'
export { RequestLifecycle } from './lifecycle/request-lifecycle.ts'
export { admitAll } from './limits/admit-all.ts'
export { mustBeCalled } from './limits/called-makers.ts'
export {
  type Admission,
  type HttpLimit,
  type InflightHandle,
  isDeniedRequest,
  type RateHandle,
  type SlowHandle,
} from './limits/http-limit.ts'
export {
  type LimiterMakers,
  type Limiters,
  limitersFor,
  SLUICE_OPTIONS,
  type Sluice,
  type SluiceOptions,
  sharing,
} from './limits/limiters.ts'
