// the exports that the packages of all frameworks have in common
export * from '@sluice/http/shared'
export type { ConnectHandler, ConnectMiddleware, WrappedHandler } from './connect/connect.ts'
export type { Next } from './connect/next.ts'
export {
  type ConnectionLimit,
  type ConnectionLimitOptions,
  limitConnections,
} from './connections/limit-connections.ts'
export type { DecoratedSluice, LimitDecorators } from './decorators/decorators.ts'
export type { LimitDecorator } from './decorators/limit-decorator.ts'
export { type ContinueGuard, type ContinueGuardOptions, guardContinue } from './guard-continue.ts'
export {
  limitUpgrade,
  type SocketCapOptions,
  type UpgradeLimit,
  type UpgradeLimitOptions,
} from './upgrade/limit-upgrade.ts'
export type { UpgradeListener } from './upgrade/upgrade-exchange.ts'
