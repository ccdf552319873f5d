export { availableAfterMs } from './algorithms/available-after-ms.ts'
export { forgetsMs } from './algorithms/forgets-ms.ts'
export { algorithms } from './algorithms/index.ts'
export { firstWholeMs } from './algorithms/whole-ms.ts'
export { type ChargePart, mergedAnswer, takeTogether } from './charge-parts.ts'
export type { Costs, Keys } from './charges.ts'
export { AWAITED, afterThisTurn, clockOf, systemClock } from './clock.ts'
export type * from './contracts.ts'
export { DEFAULT_NAMES } from './default-names.ts'
export { type Duration, parseDuration, parseMs, parseTimerMs } from './duration.ts'
export { messageOf, type SluiceCode, SluiceError } from './errors.ts'
export { everyTick } from './every-tick.ts'
export { causeOf, LateError } from './failover/backend-failure.ts'
export { Breaker, type BreakerOptions, type BreakerState } from './failover/breaker.ts'
export { Deadlines } from './failover/deadlines.ts'
export {
  type BackendErrorRule,
  compileFailover,
  type FailoverOptions,
  type FailoverRule,
} from './failover/failover-options.ts'
export { FailureLog } from './failover/failure-log.ts'
export { infallible } from './failover/infallible.ts'
export { GroupedBackend } from './grouped-backend.ts'
export type { CostSource, ReservedCost, SettleContext } from './http/cost-source.ts'
export {
  capEntry,
  type GateEntry,
  type HeaderLine,
  type HttpDenial,
  headerLines,
  httpDenial,
  policyItems,
  rateEntry,
  violatedNames,
  violatedPolicies,
} from './http/gate.ts'
export { compileHeaders, type HeaderDialect, type HeaderOptions, type HeaderPlan } from './http/header-dialect.ts'
export { InHandlerDetector } from './http/in-handler-detector.ts'
export { type CapCheck, InflightGate } from './http/inflight-gate.ts'
export type { InflightLimitOptions } from './http/inflight-limit-options.ts'
export { compilePartitionKey, type PartitionKeyOptions } from './http/partition-key.ts'
export { PROBLEM_MEDIA_TYPE, type ProblemType, problemBody } from './http/problem.ts'
export type { OfPart, RateCheck } from './http/rate-check.ts'
export { RateGate } from './http/rate-gate.ts'
export { type RateLayer, scopeOfPart } from './http/rate-layers.ts'
export type {
  DeniedAnswer,
  DeniedContext,
  OnePolicyOptions,
  PlansOptions,
  PoliciesOptions,
  RateLimitOptions,
  RequestPolicy,
  SharedRateLimitOptions,
} from './http/rate-limit-options.ts'
export type { RequestHook } from './http/request-hook.ts'
export { RequestRecord } from './http/request-record.ts'
export type { RequestSluice } from './http/request-sluice.ts'
export { type SlowCheck, SlowDownGate } from './http/slow-down-gate.ts'
export type { SlowDownOptions } from './http/slow-down-options.ts'
export { IDEMPOTENT_MS, newIdempotencyKey } from './idempotency-key.ts'
export { FULL, TOO_HEAVY } from './inflight/cap-denial.ts'
export {
  createInflightLimiter,
  type InflightLimiter,
  type InflightLimiterOptions,
  type LocalInflightLimiter,
  type LocalInflightOptions,
} from './inflight/inflight-limiter.ts'
export { MaxHoldTimer } from './inflight/max-hold-timer.ts'
export { HeldPermit, type PermitHome } from './inflight/permit.ts'
export { parseAddress, writeIPv6 } from './keys/address.ts'
export { addressKey, compileAddressOptions } from './keys/address-key.ts'
export { clientKey } from './keys/client-key.ts'
export { joinedKey } from './keys/joined-key.ts'
export {
  ANONYMOUS,
  DENY,
  EXEMPT,
  type KeyFallback,
  type KeyResult,
  type KeySign,
  type KeySource,
  resolveKey,
} from './keys/key-source.ts'
export {
  type ByHeaderOptions,
  type ByIpOptions,
  byAll,
  byHeader,
  byIp,
  byPrincipal,
  byRoute,
  type LabelledKeySource,
  labelOf,
} from './keys/sources.ts'
export { SETTLED_MS } from './leases/lease-book.ts'
export {
  GRACE,
  isLeased,
  type LeaseAsk,
  type LeaseGrant,
  type LeaseLedger,
  type LeaseTerms,
  leaseMsOf,
} from './leases/lease-ledger.ts'
export { LeaseTable } from './leases/lease-table.ts'
export {
  LEASE_OPTIONS,
  type LeaseOptions,
  LeasingBackend,
  type LeasingDeps,
  leaseTermsOf,
} from './leases/leasing-backend.ts'
export { MemoryLedger } from './leases/memory-ledger.ts'
export {
  createLimiter,
  type Limiter,
  type LimiterOptions,
  type SyncLimiterOptions,
} from './limiter.ts'
export { LimiterReport } from './limiter-report.ts'
export { makeGood } from './make-good.ts'
export { andThen, isPromise } from './maybe-promise.ts'
export { type MemoryBackendOptions, memoryBackend } from './memory/memory-backend.ts'
export type { Mode } from './mode.ts'
export { Observers } from './observers.ts'
export { optionalFunction, optionsOf, withInherited } from './options.ts'
export { compilePolicy, type PolicyInput, wholeUnits } from './policy.ts'
export { PolicyVariants } from './policy-variants.ts'
export { parseScope } from './scope.ts'
export { kindOf, shown } from './shown.ts'
export { SourcedDecision } from './sourced-decision.ts'
export { ChargeVerdict, RequestDecision } from './verdict.ts'
export { type WaitOptions, waitFor } from './wait-for.ts'
export { forgetWarnings, warn, warnOnce } from './warn-once.ts'
