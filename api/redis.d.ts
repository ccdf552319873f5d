// index.d.ts
// @ts-ignore
import { RedisOptions } from 'ioredis'
// @ts-ignore
import { Redis } from 'ioredis'
// @ts-ignore
import { ClusterOptions } from 'ioredis'
// @ts-ignore
import { Cluster } from 'ioredis'
import { LeaseLedger, LeaseOptions } from '@sluice/fleet/leases'
import { SyncLedger, SyncOptions } from '@sluice/fleet/sync'
import { Duration, LimitOverrides, ScriptRunner } from '@sluice/limiter-core'
import {
	Duration as Duration$1,
	Clock,
	Observer as Observer$1,
	Channel,
	ScriptRunner as ScriptRunner$1,
	Observers,
	PublishOptions as PublishOptions$1,
	Backend as Backend$1,
	Answer as Answer$1,
	InflightBackend as InflightBackend$1,
	RecordStore as RecordStore$1,
	BackendErrorRule,
	MetricSource,
	Environment
} from '@sluice/limiter-core/backend'
import { RemoteFailure, RemoteFailureOptions } from '@sluice/fleet/backend'
import {
	SharedChannelOptions,
	ChannelSettings,
	RedisClient,
	IoRedisClient,
	RedisConnection,
	RedisClusterNode
} from './types.js'

declare class RedisChannel implements Channel {
	#private
	constructor(settings: ChannelSettings, bounds: TopicBounds)
	publish(topic: string, bytes: Uint8Array, { urgent }?: PublishOptions$1): void
	subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void
	close(): Promise<void>
}

interface TopicBounds {
	readonly retainMs: number
	readonly maxRetainedBytes: number
	readonly maxMessageBytes: number
	readonly maxUnsentBytes: number
}

interface RedisChannelOptions extends SharedChannelOptions {
	readonly retainMs?: Duration$1 | undefined
	readonly maxRetainedBytes?: number | undefined
	readonly maxMessageBytes?: number | undefined
	readonly maxUnsentBytes?: number | undefined
}

declare function redisChannel(client: RedisClient | ScriptRunner$1, options?: RedisChannelOptions): RedisChannel

declare class RedisSums {
	#private
	constructor(settings: ChannelSettings, name: string, bounds: Omit<SumsBounds, 'observers'>)
	add(name: string, amount?: number): void
	get(name: string): number
	close(): Promise<void>
}

interface SumsBounds {
	readonly maxSums: number
	readonly maxUnsent: number
	readonly observers: Observers
}

interface RedisSumsOptions extends SharedChannelOptions {
	readonly name: string
	readonly maxSums?: number | undefined
	readonly maxUnsent?: number | undefined
}

declare function redisSums(client: RedisClient | ScriptRunner$1, options: RedisSumsOptions): RedisSums

interface CreateRedisOptions extends Omit<RedisOptions, 'replyMapping'> {
	readonly socketTimeout?: number | undefined
	readonly onError?: ((error: Error) => void) | undefined
}

declare function createRedis(target: string | CreateRedisOptions, options?: CreateRedisOptions): Redis

interface CreateRedisClusterOptions extends Omit<ClusterOptions, 'redisOptions'> {
	readonly redisOptions?: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'> | undefined
	readonly onError?: ((error: Error) => void) | undefined
}

declare function createRedisCluster(nodes: readonly RedisClusterNode[], options?: CreateRedisClusterOptions): Cluster
declare function hashSlot(key: string): number

interface RedisClusterClient extends IoRedisClient {
	readonly options: {
		readonly keyPrefix?: string | undefined
	}
	readonly slots: readonly (readonly string[] | undefined)[]
	nodes(role: 'master' | 'all'): readonly RedisNode[]
	refreshSlotsCache(): void
}

interface RedisNode extends RedisConnection {
	readonly options: {
		readonly host?: string | undefined
		readonly port?: number | undefined
	}
}

declare class RedisFailure extends RemoteFailure {
	constructor(code: string, message: string, options?: Omit<RemoteFailureOptions, 'cause'>)
}

interface RedisBackendOptions extends EntityKeyOptions {
	readonly clock?: Clock | undefined
	readonly serverTime?: (() => number) | undefined
	readonly maxBatch?: number | undefined
	readonly nativeCommands?: boolean | undefined
}

interface EntityKeyOptions {
	readonly prefix?: string | undefined
	readonly secret?: string | Uint8Array | undefined
	readonly hashKeys?: 'long' | 'all' | undefined
	readonly partitions?: number | undefined
}

declare function redisBackend(
	client: RedisClient | ScriptRunner$1,
	options?: RedisBackendOptions
): Backend$1<Promise<Answer$1>>

interface RedisInflightOptions extends EntityKeyOptions {
	readonly limit?: number | undefined
	readonly leaseMs?: Duration$1 | undefined
	readonly scope?: string | undefined
	readonly deadlineMs?: Duration$1 | undefined
	readonly maxHoldMs?: Duration$1 | undefined
	readonly observers?: readonly Observer$1[] | undefined
	readonly clock?: Clock | undefined
	readonly serverTime?: (() => number) | undefined
}

declare function redisInflight(client: RedisClient | ScriptRunner$1, options?: RedisInflightOptions): InflightBackend$1

interface LeasedBackendOptions extends EntityKeyOptions, LeaseOptions {
	readonly clock?: Clock | undefined
	readonly serverTime?: (() => number) | undefined
}

declare function leasedBackend(client: RedisClient | ScriptRunner$1, options?: LeasedBackendOptions): Backend$1

declare function redisLeaseLedger(client: RedisClient | ScriptRunner$1, options?: LeasedBackendOptions): LeaseLedger

interface RedisRecordsOptions {
	readonly name?: string | undefined
	readonly prefix?: string | undefined
	readonly clock?: Partial<Clock> | undefined
}

declare function redisRecords(client: RedisClient | ScriptRunner$1, options?: RedisRecordsOptions): RecordStore$1

declare function isRedisClients(client: RedisClient | ScriptRunner | RedisClients): client is RedisClients

type RedisClients = Readonly<Record<string, RedisClient | ScriptRunner>>

declare function scriptRunner(client: RedisClient | ScriptRunner): ScriptRunner

declare function redisSyncLedger(client: RedisClient | ScriptRunner$1, options?: SyncedBackendOptions): SyncLedger

interface SyncedBackendOptions extends EntityKeyOptions, SyncOptions {
	readonly onBackendError?: BackendErrorRule | undefined
	readonly clock?: Clock | undefined
	readonly serverTime?: (() => number) | undefined
}

type SyncedBackend = Backend$1<Answer$1> & MetricSource

declare function syncedBackend(
	client: RedisClient | ScriptRunner$1 | RedisClients,
	options?: SyncedBackendOptions
): SyncedBackend

interface EnvironmentOptions {
	readonly policy: {
		readonly limit?: number
		readonly window?: Duration
		readonly overrides?: LimitOverrides
	}
	readonly options: SyncOptions
}

declare function syncedOptionsFromEnv(prefix?: string, environment?: Environment): EnvironmentOptions

interface NamedRegisters {
	readonly name: string
	readonly registers: string
}

declare class RedisUniqueStore {
	#private
	constructor(runner: ScriptRunner$1, prefix: string)
	merge(day: string, entries: readonly NamedRegisters[], keepMs: number): Promise<string[]>
	read(day: string): Promise<NamedRegisters[]>
}

interface RedisUniqueStoreOptions {
	readonly prefix?: string | undefined
}

declare function redisUniqueStore(
	client: RedisClient | ScriptRunner$1,
	options?: RedisUniqueStoreOptions
): RedisUniqueStore
export {
	type SharedChannelOptions,
	type RedisClusterNode,
	type IoRedisClient,
	type RedisConnection,
	type UpstashRedisClient,
	type ValkeyGlideClient,
	type NodeRedisClient,
	type RedisClient
} from './types.js'
export {
	RedisChannel,
	type RedisChannelOptions,
	redisChannel,
	RedisSums,
	type RedisSumsOptions,
	redisSums,
	type CreateRedisOptions,
	createRedis,
	type CreateRedisClusterOptions,
	createRedisCluster,
	hashSlot,
	type RedisClusterClient,
	RedisFailure,
	type RedisBackendOptions,
	redisBackend,
	type RedisInflightOptions,
	redisInflight,
	type LeasedBackendOptions,
	leasedBackend,
	redisLeaseLedger,
	type RedisRecordsOptions,
	redisRecords,
	isRedisClients,
	type RedisClients,
	scriptRunner,
	redisSyncLedger,
	type SyncedBackend,
	type SyncedBackendOptions,
	syncedBackend,
	type EnvironmentOptions,
	syncedOptionsFromEnv,
	type NamedRegisters,
	RedisUniqueStore,
	type RedisUniqueStoreOptions,
	redisUniqueStore
}
export { type LeaseGrant as LeaseGrant } from '@sluice/fleet/leases'
export { type LeaseLedger as LeaseLedger } from '@sluice/fleet/leases'
export { type LeaseRequest as LeaseRequest } from '@sluice/fleet/leases'
export { type ReceivedCounts as ReceivedCounts } from '@sluice/fleet/sync'
export { type ReportedTakes as ReportedTakes } from '@sluice/fleet/sync'
export { type SyncAnswer as SyncAnswer } from '@sluice/fleet/sync'
export { type SyncBatch as SyncBatch } from '@sluice/fleet/sync'
export { type SyncLedger as SyncLedger } from '@sluice/fleet/sync'
export { type SyncOptions as SyncOptions } from '@sluice/fleet/sync'
export { type AcquireOptions as AcquireOptions } from '@sluice/limiter-core'
export { type AlgorithmName as AlgorithmName } from '@sluice/limiter-core'
export { type Answer as Answer } from '@sluice/limiter-core'
export { type Backend as Backend } from '@sluice/limiter-core'
export { type Cap as Cap } from '@sluice/limiter-core'
export { type Charge as Charge } from '@sluice/limiter-core'
export { type CompiledPolicy as CompiledPolicy } from '@sluice/limiter-core'
export { type CountEstimate as CountEstimate } from '@sluice/limiter-core'
export { type CountedKey as CountedKey } from '@sluice/limiter-core'
export { type Counter as Counter } from '@sluice/limiter-core'
export { type Denial as Denial } from '@sluice/limiter-core'
export { type Duration as Duration } from '@sluice/limiter-core'
export { type HeldUnits as HeldUnits } from '@sluice/limiter-core'
export { type InflightBackend as InflightBackend } from '@sluice/limiter-core'
export { type Interruption as Interruption } from '@sluice/limiter-core'
export { type LimitOverrides as LimitOverrides } from '@sluice/limiter-core'
export { type MaybePromise as MaybePromise } from '@sluice/limiter-core'
export { type Metric as Metric } from '@sluice/limiter-core'
export { type Moment as Moment } from '@sluice/limiter-core'
export { type Observer as Observer } from '@sluice/limiter-core'
export { type Permit as Permit } from '@sluice/limiter-core'
export { type PublishOptions as PublishOptions } from '@sluice/limiter-core'
export { type RecordStore as RecordStore } from '@sluice/limiter-core'
export { type Script as Script } from '@sluice/limiter-core'
export { type ScriptRunner as ScriptRunner } from '@sluice/limiter-core'

// node-redis/index.d.ts
// @ts-ignore
import { RedisClientOptions } from 'redis'
// @ts-ignore
import { RedisClientType } from 'redis'
// @ts-ignore
import { RedisClusterOptions } from 'redis'
// @ts-ignore
import { RedisClusterType } from 'redis'
// @ts-ignore
import { RedisSentinelOptions } from 'redis'
// @ts-ignore
import { RedisSentinelType } from 'redis'
import { RedisClusterNode, ServerAddress } from './../types.js'

interface CreateNodeRedisOptions extends RedisClientOptions {
	readonly onError?: ((error: Error) => void) | undefined
}

declare function createNodeRedis(
	target: string | CreateNodeRedisOptions,
	options?: CreateNodeRedisOptions
): RedisClientType

interface CreateNodeRedisClusterOptions extends Omit<RedisClusterOptions, 'rootNodes'> {
	readonly onError?: ((error: Error) => void) | undefined
}

declare function createNodeRedisCluster(
	nodes: readonly RedisClusterNode[],
	options?: CreateNodeRedisClusterOptions
): RedisClusterType

interface CreateNodeRedisSentinelOptions extends Omit<RedisSentinelOptions, 'sentinelRootNodes'> {
	readonly sentinels: readonly ServerAddress[]
	readonly onError?: ((error: Error) => void) | undefined
}

declare function createNodeRedisSentinel(options: CreateNodeRedisSentinelOptions): RedisSentinelType

interface NodeRedisOptions extends Pick<RedisClientOptions, 'disableOfflineQueue' | 'pingInterval'> {
	readonly socket: {
		readonly connectTimeout: number
		readonly socketTimeout: number
		readonly keepAliveInitialDelay: number
		readonly reconnectStrategy: (retries: number) => number
	}
}

declare function nodeRedisOptions(socketTimeout?: number): NodeRedisOptions
export {
	type CreateNodeRedisOptions,
	createNodeRedis,
	type CreateNodeRedisClusterOptions,
	createNodeRedisCluster,
	type CreateNodeRedisSentinelOptions,
	createNodeRedisSentinel,
	type NodeRedisOptions,
	nodeRedisOptions
}

// types.d.ts
import {
	Duration as Duration$1,
	Clock,
	Observer as Observer$1,
	ScriptRunner as ScriptRunner$1,
	Observers
} from '@sluice/limiter-core/backend'

interface SharedChannelOptions {
	readonly prefix?: string | undefined
	readonly tickMs?: Duration$1 | undefined
	readonly closeMs?: Duration$1 | undefined
	readonly clock?: Partial<Clock> | undefined
	readonly observers?: readonly Observer$1[] | undefined
}

interface ChannelSettings {
	readonly runner: ScriptRunner$1
	readonly clock: Clock
	readonly observers: Observers
	readonly prefix: string
	readonly tickMs: number
	readonly closeMs: number
	readonly writer: string
}

type RedisClient = IoRedisClient | NodeRedisClient | ValkeyGlideClient | UpstashRedisClient

interface IoRedisClient extends RedisConnection {
	evalsha(sha: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>
	eval(text: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>
	readonly isCluster?: boolean
	readonly options?: {
		readonly keyPrefix?: string | undefined
	}
}
interface RedisConnection {
	readonly status: string
	on(event: string, listener: (...args: unknown[]) => void): unknown
	off(event: string, listener: (...args: unknown[]) => void): unknown
	connect?(): Promise<unknown>
	pipeline?(commands: string[][]): RedisPipeline
}

interface RedisPipeline {
	exec(): Promise<[error: Error | null, reply: unknown][] | null>
}
interface NodeRedisClient {
	evalSha(sha: string, options: NodeRedisArguments): Promise<unknown>
	eval(text: string, options: NodeRedisArguments): Promise<unknown>
	on(event: string, listener: (...args: unknown[]) => void): unknown
	off(event: string, listener: (...args: unknown[]) => void): unknown
	readonly isOpen: boolean
}

interface NodeRedisArguments {
	keys: string[]
	arguments: string[]
}
interface ValkeyGlideClient {
	customCommand(args: string[]): Promise<unknown>
	invokeScript(...args: never[]): Promise<unknown>
}
interface UpstashRedisClient {
	createScript(...args: never[]): unknown
	evalsha(...args: never[]): Promise<unknown>
}

type RedisClusterNode = ServerAddress
interface ServerAddress {
	readonly host: string
	readonly port?: number
}
export {
	SharedChannelOptions,
	ChannelSettings,
	RedisClient,
	IoRedisClient,
	RedisConnection,
	RedisPipeline,
	NodeRedisClient,
	NodeRedisArguments,
	ValkeyGlideClient,
	UpstashRedisClient,
	RedisClusterNode,
	ServerAddress
}

// uniques/index.d.ts
// @ts-ignore
import { SketchSeed } from '@sluice/sketches'
// @ts-ignore
import { SketchKey } from '@sluice/sketches'
import { Duration as Duration$1, ScriptRunner as ScriptRunner$1 } from '@sluice/limiter-core/backend'
import { SharedChannelOptions, ChannelSettings, RedisClient } from './../types.js'

declare class RedisUniques {
	#private
	constructor(settings: ChannelSettings, place: UniquesLocation, seed: SketchSeed | undefined)
	add(key: SketchKey): void
	count(): number
	get key(): string | undefined
	close(): Promise<void>
}

interface UniquesLocation {
	readonly topic: string
	readonly stored: string
	readonly windowMs: number
	readonly ttlMs: number
}

interface RedisUniquesOptions extends SharedChannelOptions {
	readonly name: string
	readonly window?: Duration$1 | undefined
	readonly ttl?: Duration$1 | undefined
	readonly secret?: string | Uint8Array | undefined
}

declare function redisUniques(client: RedisClient | ScriptRunner$1, options: RedisUniquesOptions): RedisUniques
export { RedisUniques, type RedisUniquesOptions, redisUniques }
