export * from '@sluice/http'
export { afterCheck } from './connect/after-check.ts'
export { type ConnectMiddleware, connectMount, holdWhile } from './connect/connect.ts'
export type { Next } from './connect/next.ts'
export { type DecoratedLimiters, type Wrappable, withDecorators } from './decorators/decorators.ts'
export { Exchange } from './exchange/exchange.ts'
export { expressMethod, expressPattern } from './exchange/express-route.ts'
export { nodeSource } from './exchange/node-source.ts'
export {
  warnAboutExpressTrust,
  warnAboutFastifyOption,
  warnTrustsAllProxies,
  warnUntrustedProxy,
} from './exchange/proxy-trust.ts'
export { ReplyExchange } from './exchange/reply-exchange.ts'
export { type RouteConfig, routeConfigOf, routePattern } from './exchange/route-config.ts'
export { type RouteInfo, RouteLayers } from './layers/route-layers.ts'
export { RouteScopeNames } from './layers/route-scope-names.ts'
export { RequestLifecycle } from './lifecycle/request-lifecycle.ts'
