// the exports that the packages of all frameworks have in common
export * from '@sluice/limiter-core'
export type { ClientExplanation, ExplainClientOptions } from './client/explain-client.ts'
export type { CostSource, CountOnly, ReservedCost, SettleContext, StreamedCost } from './gates/options/cost-source.ts'
export type { DeniedContext, DeniedHook } from './gates/options/gate-options.ts'
export type { InflightLimitOptions } from './gates/options/inflight-limit-options.ts'
export type { PartitionKeyOptions } from './gates/options/partition-key.ts'
export type {
  OnePolicyOptions,
  PlansOptions,
  PoliciesOptions,
  RateLimitOptions,
  SharedRateLimitOptions,
} from './gates/options/rate-limit-options.ts'
export type { RequestPolicy } from './gates/options/request-policy.ts'
export type { RequestHold, RequestSluice } from './gates/request-sluice.ts'
export type { ShedOptions } from './gates/shed/shed-options.ts'
export type { SlowDownOptions } from './gates/slow-down/slow-down-options.ts'
export type { HeaderDialect, HeaderOptions } from './headers/compile-headers.ts'
export { type EmailKeyOptions, emailKey, type IgnoredPart } from './keys/email-key.ts'
export type { InflightHandle, RateHandle, ShedHandle, SlowDownHandle } from './limits/http-limit.ts'
export type { LimiterFactories, Sluice, SluiceOptions } from './limits/limiters.ts'
export type { Refusal, Shedder } from './overload/health/shedder.ts'
export type * from './proxy-trust.ts'
