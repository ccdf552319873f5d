// Entry point for authors of adapters.
export * from '@sluice/limiter-core/http'
export type { ClientSource } from './client/client-source.ts'
export { CollapseDetector, type CollapseReporter, type UnprovenProxy } from './client/collapse-detector.ts'
export { collapseDetector } from './client/collapse-warnings.ts'
export { type ClientExplanation, type ExplainClientOptions, explainSource } from './client/explain-client.ts'
export { isUnixSocket } from './client/unix-socket.ts'
export { isOfRegularResponse, writeDenialHead } from './denial/denial-writer.ts'
export type { DeniedRequest } from './denial/denied-request.ts'
export { type DenialError, type PassError, sendDenial, sendDenialBody } from './denial/send-denial.ts'
export type { HttpExchange } from './exchange.ts'
export { capEntry } from './gates/caps/cap-entry.ts'
export { type CapCheck, InflightGate } from './gates/caps/inflight-gate.ts'
export {
  type ChangingPolicies,
  type PolicyFollower,
  type PreparedPolicies,
  prepareAll,
} from './gates/options/changing-policies.ts'
export type { CostSource, SettleContext } from './gates/options/cost-source.ts'
export type { DenialBody, DenialMessage, DeniedContext, DeniedHook } from './gates/options/gate-options.ts'
export type { InflightLimitOptions } from './gates/options/inflight-limit-options.ts'
export type { GroupedKeySource, KeyGroup } from './gates/options/key-group.ts'
export { compilePartitionKey } from './gates/options/partition-key.ts'
export { RATE_LIMIT_OPTIONS } from './gates/options/rate-inputs.ts'
export type { RateLimitOptions } from './gates/options/rate-limit-options.ts'
export type { RequestPolicy } from './gates/options/request-policy.ts'
export type { GateOverrides, RateCheck } from './gates/rate-check.ts'
export { RateGate } from './gates/rate-gate.ts'
export { type RateLayer, scopeOfPart } from './gates/rate-layers.ts'
export type { RequestSluice } from './gates/request-sluice.ts'
export { type ShedCheck, ShedGate } from './gates/shed/shed-gate.ts'
export type { ShedOptions } from './gates/shed/shed-options.ts'
export { type SlowCheck, SlowDownGate } from './gates/slow-down/slow-down-gate.ts'
export type { SlowDownOptions } from './gates/slow-down/slow-down-options.ts'
export { compileHeaders, type HeaderDialect, type HeaderOptions } from './headers/compile-headers.ts'
export { errorAt } from './layers/error-at.ts'
export { type LayerOptions, LimitLayer } from './layers/limit-layer.ts'
export { LIMIT_PLACES } from './layers/limit-places.ts'
export { type Carrier, onCarrierClose } from './lifecycle/carrier-close.ts'
export { releasePermit } from './lifecycle/release-permit.ts'
export { type Ending, RequestLife } from './lifecycle/request-life.ts'
export { weakly, whenCollected } from './lifecycle/when-collected.ts'
export { admitAll } from './limits/admit-all.ts'
export { HttpInflightLimit } from './limits/http-inflight-limit.ts'
export {
  type Admission,
  type HttpLimit,
  type InflightHandle,
  isDeniedRequest,
  type RateHandle,
  type ShedHandle,
  type SlowDownHandle,
} from './limits/http-limit.ts'
export { HttpRateLimit } from './limits/http-rate-limit.ts'
export { HttpShed } from './limits/http-shed.ts'
export { HttpSlowDown } from './limits/http-slow-down.ts'
export { InHandlerDetector } from './limits/in-handler-detector.ts'
export {
  compileSharedOptions,
  createSluiceFor,
  inflightLimitFor,
  type LimiterFactories,
  type Limiters,
  limitersFor,
  rateLimitFor,
  type SharedOptions,
  SLUICE_OPTIONS,
  type Sluice,
  type SluiceOptions,
  shedFor,
  slowDownFor,
} from './limits/limiters.ts'
export { rejectDecorator, rejectMounted, rejectUncalled } from './limits/reject-uncalled.ts'
export type * from './proxy-trust.ts'
export { type FieldChanges, isForeignField, isLimitField, limitFieldChanges } from './record/limit-fields.ts'
export { vendorLines } from './record/vendor-lines.ts'
export { LimiterReport, reportUnlessPreflight } from './report/limiter-report.ts'
export { routeMethod } from './route-method.ts'
