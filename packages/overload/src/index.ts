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
export {
  type AdaptiveThrottleOptions,
  adaptiveThrottle,
  type FetchLike,
  type UpstreamResponse,
} from './client/adaptive-throttle.ts'
export { byUpstream, type UpstreamParts } from './client/by-upstream.ts'
export type { ThrottleStats, UpstreamStats } from './client/throttle.ts'
export type { ThrottleOptions } from './client/throttle-options.ts'
export { type ThrottledOptions, throttled } from './client/throttled.ts'
export { ThrottledError } from './client/throttled-error.ts'
export type { CheckHealth } from './health/health-check.ts'
export type { ShedSignal } from './health/process-signals.ts'
export { createShedder, type Shedder } from './health/shedder.ts'
export type { ShedderOptions, ShedSignals } from './health/shedder-options.ts'
export type { SignalThreshold } from './health/signal-range.ts'
export { type AdaptiveOptions, adaptive } from './limits/adaptive.ts'
export type { LimitAlgorithmName } from './limits/limit-algorithm.ts'
export { type PrioritizedInflightOptions, prioritizedInflight, type QueueOptions } from './priority/prioritized.ts'
export { createPrioritizer, type Prioritizer } from './priority/prioritizer.ts'
