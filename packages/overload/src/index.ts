export {
  type CheckHealth,
  createPrioritizer,
  createShedder,
  type PrioritizedInflightOptions,
  type Prioritizer,
  prioritizedInflight,
  type QueueOptions,
  type Shedder,
  type ShedderOptions,
  type ShedSignal,
  type ShedSignals,
  type SignalThreshold,
} from '@sluice/http/overload'
export type {
  AcquireOptions,
  AdaptiveLimit,
  AddressRules,
  Cap,
  Clock,
  Denial,
  InflightBackend,
  LabelledKeySource,
  LearnedLimits,
  MaybePromise,
  Permit,
  Priority,
  SluiceCode,
} from '@sluice/limiter-core'
export { type AdaptiveThrottleOptions, adaptiveThrottle } from './client/adaptive-throttle.ts'
export { byUpstream, type UpstreamParts } from './client/by-upstream.ts'
export type { FetchLike, UpstreamResponse } from './client/fetch-calls.ts'
export { type PacedCalls, type PacedFetchOptions, pacedFetch } from './client/paced/paced-fetch.ts'
export type { PacedStats } from './client/paced/paced-upstream.ts'
export type { ThrottleStats } from './client/throttle.ts'
export type { RetryOptions, ThrottleOptions } from './client/throttle-options.ts'
export { type ThrottledOptions, throttled } from './client/throttled.ts'
export { ThrottledError } from './client/throttled-error.ts'
export type { UpstreamStats } from './client/upstream.ts'
export { type AdaptiveOptions, adaptive, type LatencyTarget } from './limits/adaptive.ts'
export type { LimitAlgorithmName } from './limits/limit-algorithm.ts'
