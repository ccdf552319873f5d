// index.d.ts
import { RemoteFailure, RemoteFailureOptions } from '@sluice/fleet/backend'
import { Clock, Backend as Backend$1, Answer as Answer$1 } from '@sluice/limiter-core/backend'

declare class DurableObjectFailure extends RemoteFailure {
	readonly code: 'CONNECTION' | 'OVERLOADED' | 'LATE' | 'REPLY'
	constructor(code: DurableObjectFailure['code'], message: string, options?: Omit<RemoteFailureOptions, 'cause'>)
}
interface LimitNamespace {
	idFromName(name: string): object
	get(
		id: object,
		options?: {
			readonly locationHint?: string
		}
	): LimitStub
}

interface LimitStub {
	fetch(
		url: string,
		init: {
			readonly method: string
			readonly body: string
		}
	): Promise<{
		readonly status: number
		text(): Promise<string>
	}>
}

interface DurableObjectBackendOptions {
	readonly prefix?: string | undefined
	readonly shards?: number | undefined
	readonly locationHint?: string | undefined
	readonly durable?: boolean | undefined
	readonly secret?: string | undefined
	readonly maxBatch?: number | undefined
	readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
	readonly clock?: Partial<Clock> | undefined
	readonly serverTime?: (() => number) | undefined
}

declare function durableObjectBackend(
	namespace: LimitNamespace,
	options?: DurableObjectBackendOptions
): Backend$1<Promise<Answer$1>>

declare class LimitObject {
	#private
	readonly __DURABLE_OBJECT_BRAND: never
	constructor(state: LimitObjectState, _env?: unknown)
	fetch(request: Request): Promise<Response>
	alarm(): Promise<void>
}
interface LimitObjectState {
	readonly storage: LimitStorage
}

interface LimitStorage {
	get(keys: string[]): Promise<Map<string, unknown>>
	put(entries: Record<string, unknown>, options?: WriteOptions): Promise<void>
	delete(keys: string[], options?: WriteOptions): Promise<number>
	list(options: { readonly startAfter?: string; readonly limit: number }): Promise<Map<string, unknown>>
	getAlarm(): Promise<number | null>
	setAlarm(at: number, options?: WriteOptions): Promise<void>
}

interface WriteOptions {
	readonly allowUnconfirmed?: boolean
}
export {
	DurableObjectFailure,
	type LimitNamespace,
	type LimitStub,
	type DurableObjectBackendOptions,
	durableObjectBackend,
	LimitObject,
	type LimitObjectState,
	type LimitStorage
}
export { type AlgorithmName as AlgorithmName } from '@sluice/limiter-core'
export { type Answer as Answer } from '@sluice/limiter-core'
export { type Backend as Backend } from '@sluice/limiter-core'
export { type Charge as Charge } from '@sluice/limiter-core'
export { type CompiledPolicy as CompiledPolicy } from '@sluice/limiter-core'
export { type CountEstimate as CountEstimate } from '@sluice/limiter-core'
export { type CountedKey as CountedKey } from '@sluice/limiter-core'
export { type Counter as Counter } from '@sluice/limiter-core'
export { type HeldUnits as HeldUnits } from '@sluice/limiter-core'
export { type Interruption as Interruption } from '@sluice/limiter-core'
export { type MaybePromise as MaybePromise } from '@sluice/limiter-core'
export { type Moment as Moment } from '@sluice/limiter-core'
export { type Observer as Observer } from '@sluice/limiter-core'
