// Entry point for authors of adapters: limits for HTTP requests, and headers and bodies of responses.

export { andThen, isPromise } from './contracts/maybe-promise.ts'
export type * from './contracts.ts'
export { badOption } from './errors/bad-option.ts'
export { messageOf, type SluiceCode, SluiceError } from './errors/errors.ts'
export { kindOf, shown } from './errors/shown.ts'
export { warn, warnOnce } from './errors/warn-once.ts'
export { compileFailover, type FailoverOptions } from './failover/failover-options.ts'
export { Deadlines } from './failover/health/deadlines.ts'
export type { SettleContext } from './http/cost-source.ts'
export { stringItem } from './http/headers/fields.ts'
export {
  capEntry,
  type HeaderEntry,
  type HeaderLine,
  type HttpDenial,
  headerLines,
  httpDenial,
  policyItems,
  rateEntry,
  violatedNames,
  violatedPolicies,
} from './http/headers/gate.ts'
export { compileHeaders, type HeaderPlan } from './http/headers/header-dialect.ts'
export { compilePartitionKey } from './http/headers/partition-key.ts'
export { PROBLEM_MEDIA_TYPE, problemBody } from './http/headers/problem.ts'
export { type CapCheck, InflightGate } from './http/inflight-gate.ts'
export type { InflightLimitOptions } from './http/inflight-limit-options.ts'
export type { GateOverrides, RateCheck } from './http/rate-check.ts'
export { RateGate } from './http/rate-gate.ts'
export { type RateLayer, scopeOfPart } from './http/rate-layers.ts'
export type {
  DenialBody,
  DenialMessage,
  DeniedContext,
  DeniedHook,
  RateLimitOptions,
} from './http/rate-limit-options.ts'
export { hostOf, isLocalRequest } from './http/request/local-request.ts'
export type { RequestSluice } from './http/request/request-sluice.ts'
export { hasUnreadBody } from './http/request/unread-body.ts'
export { type SlowCheck, SlowDownGate } from './http/slow-down/slow-down-gate.ts'
export type { SlowDownOptions } from './http/slow-down/slow-down-options.ts'
export { type Address, parseAddress, withoutPort, writeIPv6 } from './keys/address.ts'
export { addressKey, compileAddressOptions } from './keys/address-key.ts'
export { type AddressRange, isWithin, MAPPED_IPV4, rangeOf } from './keys/address-range.ts'
export { clientKey } from './keys/client-key.ts'
export { joinedKey } from './keys/joined-key.ts'
export { ANONYMOUS, resolveKey } from './keys/key-source.ts'
export type * from './keys/proxy-trust.ts'
export { isHeaderName, labelOf } from './keys/sources.ts'
export { wholeCostOfRequest } from './limiter/cost.ts'
export { LimiterReport } from './observers/limiter-report.ts'
export { Observers } from './observers/observers.ts'
export { integerFrom, optionalFunction, optionsOf, withInherited } from './options/options.ts'
export { DEFAULT_NAMES } from './policy/default-names.ts'
export { inThisContext } from './process/async-context.ts'
export {
  type CollapsedClients,
  collapsedClients,
  recordCollapsedClients,
} from './process/collapsed-clients.ts'
export { clockOf, KEEP_ALIVE, systemClock } from './time/clock.ts'
