// index.d.ts
import {
	AdaptiveLimit,
	Clock,
	LabelledKeySource,
	MaybePromise,
	Priority,
	Duration,
	Backend
} from '@sluice/limiter-core'
import { SluiceError } from '@sluice/limiter-core/backend'

interface AdaptiveThrottleOptions<F extends FetchLike = typeof fetch> extends ThrottleOptions {
	readonly key?: ((...request: Parameters<F>) => string) | undefined
	readonly retries?: number | undefined
}

type FetchLike = (...request: never[]) => Promise<UpstreamResponse>

interface UpstreamResponse {
	readonly status: number
	readonly headers: ResponseFields
}
interface ResponseFields {
	get(name: string): string | null
}

interface ThrottleOptions extends RetryOptions {
	readonly k?: number | undefined
	readonly minRequests?: number | undefined
	readonly window?: Duration | undefined
	readonly maxRetryDelayMs?: Duration | undefined
}

interface RetryOptions {
	readonly retryBudget?: number | undefined
	readonly maxRetryAfterMs?: Duration | undefined
	readonly maxUpstreams?: number | undefined
	readonly clock?: Partial<Clock> | undefined
	readonly random?: (() => number) | undefined
}

declare function adaptiveThrottle<F extends FetchLike>(
	fetch: F,
	options?: AdaptiveThrottleOptions<F>
): F & ThrottleStats

interface ThrottleStats {
	stats(): ReadonlyMap<string, UpstreamStats>
}

interface UpstreamStats {
	readonly sent: number
	readonly retried: number
	readonly throttled: number
}

declare function byUpstream<Raw>(
	upstream: (request: Raw) => UpstreamParts | undefined | Promise<UpstreamParts | undefined>
): LabelledKeySource<Raw>

interface UpstreamParts {
	readonly customer?: string | number | undefined
	readonly address?: string | number | undefined
	readonly host?: string | number | undefined
}

interface PacedCalls {
	stats(): ReadonlyMap<string, PacedStats>
	close(): MaybePromise<void>
}

interface PacedStats extends UpstreamStats {
	readonly waiting: number
	readonly inFlight: number
	readonly remaining: number | undefined
	readonly gapMs: number
	readonly waitMs: number
}

interface PacedFetchOptions<F extends FetchLike = typeof fetch> extends RetryOptions {
	readonly partition?: ((...request: Parameters<F>) => string) | undefined
	readonly priority?: ((...request: Parameters<F>) => Priority) | undefined
	readonly maxWaitMs?: Duration | undefined
	readonly maxWaiting?: number | undefined
	readonly retries?: number | undefined
	readonly backend?: Backend | undefined
}

declare function pacedFetch<F extends FetchLike>(fetch: F, options?: PacedFetchOptions<F>): F & PacedCalls

interface ThrottledOptions<Args extends readonly unknown[], Result> extends ThrottleOptions {
	readonly key?: ((...args: Args) => string) | undefined
	readonly isOverload?: ((error: unknown, result: Result | undefined) => boolean) | undefined
	readonly retryAfterMs?: ((error: unknown, result: Result | undefined) => number | undefined) | undefined
	readonly retries?: number | undefined
}

declare function throttled<Args extends readonly unknown[], Result>(
	call: (...args: Args) => Promise<Result>,
	options?: ThrottledOptions<Args, Result>
): ((...args: Args) => Promise<Result>) & ThrottleStats

declare class ThrottledError extends SluiceError {
	readonly retryAfterMs: number
	constructor(reason: string, retryAfterMs: number)
}

interface AdaptiveOptions {
	readonly min?: number | undefined
	readonly max?: number | undefined
	readonly initial?: number | undefined
	readonly algorithm?: LimitAlgorithmName | undefined
	readonly timeout?: Duration | undefined
	readonly target?: LatencyTarget | undefined
	readonly maxKeys?: number | undefined
}

type LimitAlgorithmName = 'throughput' | 'gradient' | 'vegas' | 'aimd'

interface LatencyTarget {
	readonly p50?: Duration | undefined
	readonly p90?: Duration | undefined
	readonly p95?: Duration | undefined
	readonly p99?: Duration | undefined
}

declare function adaptive(options?: AdaptiveOptions): AdaptiveLimit
export {
	type AdaptiveThrottleOptions,
	adaptiveThrottle,
	byUpstream,
	type UpstreamParts,
	type FetchLike,
	type UpstreamResponse,
	type PacedCalls,
	type PacedFetchOptions,
	pacedFetch,
	type PacedStats,
	type ThrottleStats,
	type RetryOptions,
	type ThrottleOptions,
	type ThrottledOptions,
	throttled,
	ThrottledError,
	type UpstreamStats,
	type AdaptiveOptions,
	adaptive,
	type LatencyTarget,
	type LimitAlgorithmName
}
export { type CheckHealth as CheckHealth } from '@sluice/http/overload'
export { createPrioritizer as createPrioritizer } from '@sluice/http/overload'
export { createShedder as createShedder } from '@sluice/http/overload'
export { type PrioritizedInflightOptions as PrioritizedInflightOptions } from '@sluice/http/overload'
export { type Prioritizer as Prioritizer } from '@sluice/http/overload'
export { prioritizedInflight as prioritizedInflight } from '@sluice/http/overload'
export { type QueueOptions as QueueOptions } from '@sluice/http/overload'
export { type Shedder as Shedder } from '@sluice/http/overload'
export { type ShedderOptions as ShedderOptions } from '@sluice/http/overload'
export { type ShedSignal as ShedSignal } from '@sluice/http/overload'
export { type ShedSignals as ShedSignals } from '@sluice/http/overload'
export { type SignalThreshold as SignalThreshold } from '@sluice/http/overload'
export { type AcquireOptions as AcquireOptions } from '@sluice/limiter-core'
export { type AdaptiveLimit as AdaptiveLimit } from '@sluice/limiter-core'
export { type AddressRules as AddressRules } from '@sluice/limiter-core'
export { type Cap as Cap } from '@sluice/limiter-core'
export { type Clock as Clock } from '@sluice/limiter-core'
export { type Denial as Denial } from '@sluice/limiter-core'
export { type InflightBackend as InflightBackend } from '@sluice/limiter-core'
export { type LabelledKeySource as LabelledKeySource } from '@sluice/limiter-core'
export { type LearnedLimits as LearnedLimits } from '@sluice/limiter-core'
export { type MaybePromise as MaybePromise } from '@sluice/limiter-core'
export { type Permit as Permit } from '@sluice/limiter-core'
export { type Priority as Priority } from '@sluice/limiter-core'
export { type SluiceCode as SluiceCode } from '@sluice/limiter-core'
