// index.d.ts
import { Answer, Backend } from '@sluice/limiter-core'
import { Clock, SqlRunner } from '@sluice/limiter-core/backend'
import { RemoteFailure, RemoteFailureOptions } from '@sluice/fleet/backend'

interface PostgresBackend extends Backend<Promise<Answer>> {
	migrate(): Promise<void>
	prune(): Promise<void>
}

interface PostgresBackendOptions {
	readonly schema?: string | undefined
	readonly durable?: boolean | undefined
	readonly secret?: string | Uint8Array | undefined
	readonly maxBatch?: number | undefined
	readonly clock?: Partial<Clock> | undefined
	readonly serverTime?: (() => number) | undefined
}

declare function postgresBackend(pool: SqlRunner, options?: PostgresBackendOptions): PostgresBackend

declare class PostgresFailure extends RemoteFailure {
	constructor(code: string, message: string, options?: Omit<RemoteFailureOptions, 'cause'>)
	get isOfConnection(): boolean
}
export { type PostgresBackend, type PostgresBackendOptions, postgresBackend, PostgresFailure }
export { type AlgorithmName as AlgorithmName } from '@sluice/limiter-core'
export { type Answer as Answer } from '@sluice/limiter-core'
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
