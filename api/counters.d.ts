// backend.d.ts
import {
	BatchReceipt,
	CounterDeltas,
	CounterReading,
	CounterReceipt,
	Counters,
	IncrementOptions,
	ReadManyOptions,
	ReadOptions
} from '@sluice/fleet/backend'
import { Clock } from '@sluice/limiter-core'
import { Clock as Clock$1, SluiceError as SluiceError$1 } from '@sluice/limiter-core/backend'
import { IncomingMessage } from 'node:http'
import { CounterToken, ListPage, AccountId } from './types.js'

declare abstract class AmountCounters implements Counters {
	increment(id: string, delta?: number, options?: IncrementOptions): Promise<CounterReceipt>
	incrementMany(deltas: CounterDeltas, options?: IncrementOptions): Promise<BatchReceipt>
	reset(id: string): Promise<void>
	delete(id: string): Promise<void>
	abstract read(id: string, options?: ReadOptions): Promise<CounterReading>
	abstract readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]>
	abstract aggregate(prefix: string, kind?: 'sum'): Promise<number>
	abstract flush(): Promise<void>
	abstract close(): Promise<void>
	abstract count(amounts: ReadonlyMap<string, number>, options: IncrementOptions): Promise<BatchReceipt>
	protected abstract clear(id: string, deleted: boolean): Promise<void>
}

declare function checkId(id: unknown): asserts id is string

declare function checkPrefix(prefix: unknown): asserts prefix is string

declare function tokenOf(token: unknown, amounts: ReadonlyMap<string, number>): CounterToken
declare function sluiceCodeOf(error: unknown): string | undefined

declare function accountPlace({ name, key }: AccountId): string

declare class CallTimeout {
	#private
	constructor(clock: Clock$1, waitMs: number)
	within<T>(answer: Promise<T>): Promise<T>
	end(error: Error): void
}
declare function stateHash(state: string): string

declare function byBytes(one: string, other: string): number

declare function idOf(stored: string): string
declare function storedId(id: string): string

declare function listPage(prefix: string, options: ReadManyOptions): ListPage
declare function codeOf(error: unknown): string
declare const BUCKETS_MS: readonly number[]

declare function requestBytes(req: IncomingMessage, clock: Clock, maxBytes?: number): Promise<Buffer>

declare function isFromLocalProgram(req: IncomingMessage): boolean

declare class ServiceProblem extends Error {
	readonly status: ProblemStatus
	readonly code: string
	readonly detail: string | undefined
	readonly headers: Readonly<Record<string, string>>
	constructor(status: ProblemStatus, code: string, { detail, headers }?: ProblemParts)
	toResponse(): ServiceResponse
}

type ProblemStatus = keyof typeof TITLES

declare const TITLES: {
	readonly 400: 'Bad Request'
	readonly 401: 'Unauthorized'
	readonly 403: 'Forbidden'
	readonly 404: 'Not Found'
	readonly 405: 'Method Not Allowed'
	readonly 408: 'Request Timeout'
	readonly 409: 'Conflict'
	readonly 413: 'Content Too Large'
	readonly 415: 'Unsupported Media Type'
	readonly 422: 'Unprocessable Content'
	readonly 500: 'Internal Server Error'
	readonly 503: 'Service Unavailable'
}

interface ProblemParts {
	readonly detail?: string | undefined
	readonly headers?: Readonly<Record<string, string>>
}
interface ServiceResponse {
	readonly status: number
	readonly headers: Readonly<Record<string, string>>
	readonly body: string
}

declare function unavailableError(message: string, options?: ErrorOptions): SluiceError$1

declare function withTimeout<T>(
	answer: Promise<T>,
	{
		clock,
		waitMs,
		late
	}: {
		readonly clock: Clock$1
		readonly waitMs: number
		readonly late: () => Error
	}
): Promise<T>
export {
	type CounterLedger,
	type CounterTable,
	type CounterBatch,
	type LedgerDelta,
	type TokenGroup,
	type CounterToken,
	type GroupOutcome,
	type AppliedBatch,
	type LedgerRead,
	type LedgerEntry,
	type TOKEN_MS,
	type QuotaTable,
	type AccountId,
	type StoredAccount,
	type AccountChange,
	type StoredNotice,
	type StoredEntry,
	type StoredUsage,
	type UsageQuery,
	type EntryQuery,
	type StrandedQuery,
	type StrandedUnits,
	type QuotaEntry,
	type UsageLine,
	type QuotaNotice,
	type ListPage
} from './types.js'
export {
	AmountCounters,
	checkId,
	checkPrefix,
	tokenOf,
	sluiceCodeOf,
	accountPlace,
	CallTimeout,
	stateHash,
	byBytes,
	idOf,
	storedId,
	listPage,
	codeOf,
	BUCKETS_MS,
	requestBytes,
	isFromLocalProgram,
	ServiceProblem,
	unavailableError,
	withTimeout
}
export { type SluiceError as SluiceError } from '@sluice/limiter-core'

// index.d.ts
import { RecordStore, MetricSource, Clock, Observer, Limiter } from '@sluice/limiter-core'
import { Counters } from '@sluice/fleet/backend'
import { HyperLogLog, SketchKey, TDigest, TDigestOptions, HyperLogLogOptions } from '@sluice/sketches'
import { Duration, Clock as Clock$1 } from '@sluice/limiter-core/backend'
import { IncomingMessage, ServerResponse } from 'node:http'
import {
	CounterLedger,
	CounterTable,
	StoredSketchKind,
	SketchTable,
	QuotaTable,
	SharedCountersOptions
} from './types.js'

interface CountersOptions extends SharedCountersOptions {
	readonly ledger?: CounterLedger | undefined
	readonly maxBatch?: number | undefined
	readonly maxWaiting?: number | undefined
	readonly maxEntries?: number | undefined
}

declare function createCounters(options?: CountersOptions): Counters & MetricSource

declare class DigestCounter {
	private readonly sketches
	constructor(options?: DigestCounterOptions)
	add(value: number, now: number): boolean
	hour(q: number, now: number): number | undefined
	day(q: number, now: number, days?: number): number
	merge(other: DigestCounter): void
}

interface DigestCounterOptions extends TDigestOptions, HourlyOptions {}
interface HourlyOptions {
	readonly hours?: number | undefined
	readonly days?: number | undefined
}

declare class GCounter {
	#private
	readonly replica: string
	constructor(replica: string)
	static fromJSON(state: unknown, replica: string): GCounter
	get value(): number
	increment(n?: number): number
	merge(other: GCounter | GCounterState): void
	toJSON(): GCounterState
}

interface GCounterState {
	readonly kind: 'g-counter'
	readonly amounts: ReplicaPairs
}
type ReplicaPairs = readonly (readonly [replica: string, amount: number])[]

declare class Leaderboard {
	#private
	get size(): number
	increment(member: string, delta?: number): number
	set(member: string, score: number): void
	delete(member: string): boolean
	score(member: string): number | undefined
	rank(member: string): number | undefined
	top(k?: number): readonly LeaderboardEntry[]
	merge(other: Leaderboard): void
}
interface LeaderboardEntry {
	readonly member: string
	readonly score: number
}

declare function mergeTop(lists: Iterable<readonly LeaderboardEntry[]>, k?: number): readonly LeaderboardEntry[]

declare class PNCounter {
	#private
	readonly replica: string
	constructor(replica: string)
	static fromJSON(state: unknown, replica: string): PNCounter
	get value(): number
	increment(n?: number): number
	decrement(n?: number): number
	merge(other: PNCounter | PNCounterState): void
	toJSON(): PNCounterState
}

interface PNCounterState {
	readonly kind: 'pn-counter'
	readonly up: ReplicaPairs
	readonly down: ReplicaPairs
}

interface ShardedCountersOptions {
	readonly shards?: number | undefined
	readonly random?: (() => number) | undefined
}

declare function shardedCounters(counters: Counters, options?: ShardedCountersOptions): Counters

declare class UniqueCounter {
	private readonly sketches
	constructor(options?: UniqueCounterOptions)
	add(key: SketchKey, now: number): boolean
	hour(now: number): number | undefined
	day(now: number, days?: number): number
	merge(other: UniqueCounter): void
}

interface UniqueCounterOptions extends HyperLogLogOptions, HourlyOptions {}

declare class WindowedCounter {
	#private
	readonly windowMs: number
	readonly grainMs: number
	constructor(options?: WindowedCounterOptions)
	static fromBytes(bytes: Uint8Array): WindowedCounter
	increment(delta: number, now: number): boolean
	sum(now: number): number
	merge(other: WindowedCounter): void
	toBytes(): Uint8Array
}

interface WindowedCounterOptions {
	readonly windowMs?: Duration | undefined
	readonly grainMs?: Duration | undefined
}

interface WindowedCounters extends Counters {
	sweep(): Promise<number>
}

interface WindowedCountersOptions {
	readonly window?: Duration | undefined
	readonly grain?: Duration | undefined
	readonly clock?: Partial<Clock> | undefined
}

declare function windowedCounters(counters: Counters, options?: WindowedCountersOptions): WindowedCounters

declare class MemoryLedger implements CounterLedger {
	#private
	readonly durable = false
	constructor(clock: Clock$1)
	open(name: string): CounterTable
	openSketches(name: string, kind: StoredSketchKind): SketchTable
	openQuotas(serverTime?: () => number): QuotaTable
	openRecords(name: string): RecordStore
	close(): Promise<void>
}

interface MeteredCounters extends Counters, MetricSource {
	hotIds(): readonly HotId[]
}

interface HotId {
	readonly id: string
	readonly perSecond: number
}

interface MeteredCountersOptions {
	readonly name?: string | undefined
	readonly hotPerSecond?: number | undefined
	readonly clock?: Partial<Clock> | undefined
}

declare function meteredCounters(counters: Counters, options?: MeteredCountersOptions): MeteredCounters

interface OwnedCountersOptions {
	readonly self: string
	readonly local: Counters
	readonly peers: Readonly<Record<string, Counters>>
	readonly downMs?: Duration | undefined
	readonly clock?: Partial<Clock> | undefined
	readonly observers?: readonly Observer[] | undefined
}

declare function ownedCounters(options: OwnedCountersOptions): OwnedCounters

interface OwnedCounters extends Counters {
	readonly down: readonly string[]
}

interface CounterClientOptions {
	readonly url: string | URL | Readonly<Record<string, string | URL>>
	readonly token?: string | undefined
	readonly fetch?: typeof globalThis.fetch | undefined
	readonly retries?: number | undefined
	readonly waitMs?: Duration | undefined
	readonly downMs?: Duration | undefined
	readonly clock?: Partial<Clock> | undefined
}

declare function counterClient(options: CounterClientOptions): Counters

interface CounterService extends MetricSource {
	(req: IncomingMessage, res: ServerResponse): Promise<void>
}

interface CounterServiceOptions {
	readonly counters: Counters
	readonly tokens?: readonly CounterServiceToken[] | undefined
	readonly open?: boolean | undefined
	readonly limits?: CounterServiceLimits | undefined
	readonly metrics?: readonly MetricSource[] | undefined
	readonly clock?: Partial<Clock> | undefined
}

interface CounterServiceToken {
	readonly token: string
	readonly scopes: readonly CounterScope[]
}

type CounterScope = 'counters:read' | 'counters:write' | 'counters:admin'

interface CounterServiceLimits {
	readonly limiter?: Limiter | undefined
	readonly maxInflight?: number | undefined
}

declare function counterService(options: CounterServiceOptions): CounterService

declare const counterOpenApi: OpenApiPart
type OpenApiPart = Readonly<Record<string, unknown>>

interface DigestCounters {
	add(id: string, value: number, options?: SketchAddOptions): Promise<SketchReceipt>
	hour(id: string, q: number, options?: HourReadOptions): Promise<number | undefined>
	day(id: string, q: number, options?: DayReadOptions): Promise<number>
	hourSketch(id: string, options?: HourReadOptions): Promise<TDigest | undefined>
	daySketch(id: string, options?: DayReadOptions): Promise<TDigest>
	compact(): Promise<number>
	flush(): Promise<void>
	close(): Promise<void>
}

interface SketchAddOptions {
	readonly durable?: boolean | undefined
}

interface SketchReceipt {
	readonly durable: boolean
}

interface HourReadOptions {
	readonly now?: number | undefined
}

interface DayReadOptions {
	readonly now?: number | undefined
	readonly days?: number | undefined
}

interface DigestCountersOptions extends StoredSketchOptions, TDigestOptions {}

interface StoredSketchOptions extends Omit<SharedCountersOptions, 'expireMs'>, HourlyOptions {
	readonly ledger?: CounterLedger | undefined
	readonly maxBatch?: number | undefined
	readonly maxWaiting?: number | undefined
	readonly random?: (() => number) | undefined
}

declare function digestCounters(options?: DigestCountersOptions): DigestCounters

interface UniqueCounters {
	add(id: string, key: SketchKey, options?: SketchAddOptions): Promise<SketchReceipt>
	hour(id: string, options?: HourReadOptions): Promise<number | undefined>
	day(id: string, options?: DayReadOptions): Promise<number>
	hourSketch(id: string, options?: HourReadOptions): Promise<HyperLogLog | undefined>
	daySketch(id: string, options?: DayReadOptions): Promise<HyperLogLog>
	compact(): Promise<number>
	flush(): Promise<void>
	close(): Promise<void>
}

interface UniqueCountersOptions extends StoredSketchOptions, HyperLogLogOptions {}

declare function uniqueCounters(options?: UniqueCountersOptions): UniqueCounters
export {
	type CounterLedger,
	type CounterTable,
	type CounterBatch,
	type LedgerDelta,
	type TokenGroup,
	type CounterToken,
	type GroupOutcome,
	type AppliedBatch,
	type LedgerRead,
	type LedgerEntry,
	type TOKEN_MS,
	type StoredSketchKind,
	type SketchTable,
	type HourRange,
	type MergeableGroupsPage,
	type SketchGroup,
	type NewSketchRow,
	type SketchRow,
	type SketchBatch,
	type ListPage
} from './types.js'
export {
	type CountersOptions,
	createCounters,
	DigestCounter,
	type DigestCounterOptions,
	GCounter,
	type GCounterState,
	Leaderboard,
	mergeTop,
	PNCounter,
	type PNCounterState,
	type LeaderboardEntry,
	type ReplicaPairs,
	type ShardedCountersOptions,
	shardedCounters,
	UniqueCounter,
	type UniqueCounterOptions,
	type HourlyOptions,
	WindowedCounter,
	type WindowedCounterOptions,
	type WindowedCounters,
	type WindowedCountersOptions,
	windowedCounters,
	MemoryLedger,
	type MeteredCounters,
	type MeteredCountersOptions,
	meteredCounters,
	type HotId,
	type OwnedCountersOptions,
	ownedCounters,
	type OwnedCounters,
	type CounterClientOptions,
	counterClient,
	type CounterService,
	type CounterServiceOptions,
	counterService,
	counterOpenApi,
	type OpenApiPart,
	type CounterScope,
	type CounterServiceToken,
	type CounterServiceLimits,
	type DigestCounters,
	type DigestCountersOptions,
	digestCounters,
	type DayReadOptions,
	type HourReadOptions,
	type SketchAddOptions,
	type SketchReceipt,
	type UniqueCounters,
	type UniqueCountersOptions,
	uniqueCounters
}
export { type BatchReceipt as BatchReceipt } from '@sluice/fleet/backend'
export { type CounterDeltas as CounterDeltas } from '@sluice/fleet/backend'
export { type CounterReading as CounterReading } from '@sluice/fleet/backend'
export { type CounterReceipt as CounterReceipt } from '@sluice/fleet/backend'
export { type Counters as Counters } from '@sluice/fleet/backend'
export { type IncrementOptions as IncrementOptions } from '@sluice/fleet/backend'
export { type ReadManyOptions as ReadManyOptions } from '@sluice/fleet/backend'
export { type ReadOptions as ReadOptions } from '@sluice/fleet/backend'
export { type Metric as Metric } from '@sluice/limiter-core'
export { type MetricSource as MetricSource } from '@sluice/limiter-core'
export { type RecordStore as RecordStore } from '@sluice/limiter-core'
export { type HyperLogLog as HyperLogLog } from '@sluice/sketches'
export { type SketchKey as SketchKey } from '@sluice/sketches'
export { type TDigest as TDigest } from '@sluice/sketches'

// postgres/index.d.ts
import { RecordStore, Clock, SqlRunner } from '@sluice/limiter-core'
import { CounterLedger, CounterTable, StoredSketchKind, SketchTable, QuotaTable } from './../types.js'

interface EmbeddedLedgerOptions {
	readonly folder: string
	readonly clock?: Partial<Clock> | undefined
}

declare function embeddedLedger(options: EmbeddedLedgerOptions): Promise<SqlLedger>

declare class SqlLedger implements CounterLedger {
	#private
	readonly durable = true
	readonly sql: SqlRunner
	constructor(sql: SqlRunner, { schema, clock, end, opening }: SqlLedgerOptions)
	migrate(): Promise<void>
	open(name: string): CounterTable
	openSketches(name: string, kind: StoredSketchKind): SketchTable
	openQuotas(serverTime?: () => number): QuotaTable
	openRecords(name: string): RecordStore
	prune(): Promise<void>
	close(): Promise<void>
}

interface SqlLedgerOptions {
	readonly schema: string
	readonly clock: Clock
	readonly end: () => Promise<void>
	readonly opening?: string | undefined
}

interface PostgresLedgerOptions {
	readonly schema?: string | undefined
	readonly clock?: Partial<Clock> | undefined
}

declare function postgresLedger(sql: SqlRunner, options?: PostgresLedgerOptions): SqlLedger
export { type EmbeddedLedgerOptions, embeddedLedger, type PostgresLedgerOptions, postgresLedger, type SqlLedger }
export { type RecordStore as RecordStore } from '@sluice/limiter-core'
export { type SqlRunner as SqlRunner } from '@sluice/limiter-core'

// redis/index.d.ts
// @ts-ignore
import { RedisClient } from '@sluice/redis'
// @ts-ignore
import { RedisClients } from '@sluice/redis'
import { Counters } from '@sluice/fleet/backend'
import { MetricSource, ScriptRunner } from '@sluice/limiter-core'
import { CounterLedger, SharedCountersOptions } from './../types.js'

interface RedisCountersOptions extends SharedCountersOptions {
	readonly ledger: CounterLedger
	readonly prefix?: string | undefined
	readonly partitions?: number | undefined
	readonly maxWaiting?: number | undefined
}

declare function redisCounters(
	client: RedisClient | ScriptRunner | RedisClients,
	options: RedisCountersOptions
): Counters & MetricSource
export { type RedisCountersOptions, redisCounters }
export { type BatchReceipt as BatchReceipt } from '@sluice/fleet/backend'
export { type CounterDeltas as CounterDeltas } from '@sluice/fleet/backend'
export { type CounterReading as CounterReading } from '@sluice/fleet/backend'
export { type CounterReceipt as CounterReceipt } from '@sluice/fleet/backend'
export { type Counters as Counters } from '@sluice/fleet/backend'
export { type IncrementOptions as IncrementOptions } from '@sluice/fleet/backend'
export { type ReadManyOptions as ReadManyOptions } from '@sluice/fleet/backend'
export { type ReadOptions as ReadOptions } from '@sluice/fleet/backend'
export { type Metric as Metric } from '@sluice/limiter-core'
export { type MetricSource as MetricSource } from '@sluice/limiter-core'

// types.d.ts
import { RecordStore, Clock, Observer } from '@sluice/limiter-core'
import { Duration } from '@sluice/limiter-core/backend'

interface CounterLedger {
	readonly durable: boolean
	open(name: string): CounterTable
	openSketches?(name: string, kind: StoredSketchKind): SketchTable
	openQuotas?(serverTime?: () => number): QuotaTable
	openRecords?(name: string): RecordStore
	close(): Promise<void>
}

interface CounterTable {
	apply(batch: CounterBatch): Promise<AppliedBatch>
	read(ids: readonly string[], writer?: string): Promise<LedgerRead>
	list(prefix: string, page: ListPage): Promise<readonly LedgerEntry[]>
	sum(prefix: string): Promise<number>
	clear(
		id: string,
		options: {
			readonly deleted: boolean
		}
	): Promise<LedgerEntry>
}

interface CounterBatch {
	readonly writer: string
	readonly number: number
	readonly deltas: readonly LedgerDelta[]
	readonly groups: readonly TokenGroup[]
}

interface LedgerDelta {
	readonly id: string
	readonly amount: number
	readonly ageMs: number
}

interface TokenGroup {
	readonly token: CounterToken | undefined
	readonly ageMs: number
	readonly amounts: ReadonlyMap<string, number>
}

interface CounterToken {
	readonly token: string
	readonly body: string
}

interface AppliedBatch {
	readonly entries: readonly LedgerEntry[]
	readonly outcomes: readonly GroupOutcome[]
}

interface LedgerEntry {
	readonly id: string
	readonly value: number
	readonly version: number
	readonly updatedAt: number | undefined
}

type GroupOutcome = 'counted' | 'duplicate' | 'reused' | 'full'

interface LedgerRead {
	readonly entries: readonly LedgerEntry[]
	readonly number: number
}

interface ListPage {
	readonly after: string | undefined
	readonly limit: number
}
type StoredSketchKind = 'unique' | 'digest'

interface SketchTable {
	claimFormat(format: string): Promise<string>
	append(batch: SketchBatch): Promise<boolean>
	read(id: string, range: HourRange): Promise<readonly SketchRow[]>
	replace(rows: readonly SketchRow[], by: NewSketchRow): Promise<boolean>
	mergeableGroups(page: MergeableGroupsPage): Promise<readonly SketchGroup[]>
	deleteBefore(before: number, keptDays: number): Promise<void>
}

interface SketchBatch {
	readonly writer: string
	readonly number: number
	readonly rows: readonly NewSketchRow[]
}

interface NewSketchRow {
	readonly id: string
	readonly firstHour: number
	readonly hours: number
	readonly bytes: Uint8Array
}

interface HourRange {
	readonly from: number
	readonly until: number
}

interface SketchRow extends NewSketchRow {
	readonly part: string
}

interface MergeableGroupsPage {
	readonly before: number
	readonly after: SketchGroup | undefined
	readonly limit: number
}

interface SketchGroup {
	readonly id: string
	readonly first: number
	readonly span: number
}
interface QuotaTable {
	readonly opening?: string | undefined
	read(ids: readonly AccountId[]): Promise<{
		readonly now: number
		readonly accounts: readonly StoredAccount[]
	}>
	commit(
		changes: readonly AccountChange[],
		together?: boolean
	): Promise<{
		readonly now: number
		readonly written: readonly boolean[]
	}>
	usedToken(id: AccountId, token: string): Promise<StoredEntry | undefined>
	due(names: readonly string[], limit: number): Promise<readonly AccountId[]>
	usage(query: UsageQuery): Promise<readonly StoredUsage[]>
	entries(query: EntryQuery): Promise<readonly StoredEntry[]>
	stranded(query: StrandedQuery): Promise<readonly StrandedUnits[]>
	undelivered(names: readonly string[], ageMs: number, limit: number): Promise<readonly StoredNotice[]>
	delivered(ids: readonly string[]): Promise<void>
}

interface AccountId {
	readonly name: string
	readonly key: string
}

interface StoredAccount extends AccountId {
	readonly version: number
	readonly state: string
}

interface AccountChange extends StoredAccount {
	readonly version: number
	readonly basedOn: string | undefined
	readonly from: number
	readonly until: number
	readonly dueAt: number | undefined
	readonly token: string | undefined
	readonly entries: readonly QuotaEntry[]
	readonly usage: readonly UsageLine[]
	readonly notices: readonly StoredNotice[]
}

interface QuotaEntry {
	readonly kind: QuotaEntryKind
	readonly token: string | null
	readonly ref: string | null
	readonly units: number
	readonly period: string | null
}

type QuotaEntryKind =
	| 'top-up'
	| 'refund'
	| 'stranded'
	| 'reported'
	| 'credit'
	| 'reserved'
	| 'posted'
	| 'voided'
	| 'expired'
	| 'taken'
	| 'returned'

interface UsageLine {
	readonly hour: number
	units: number
	stranded: number
	toppedUp: number
}

interface StoredNotice extends AccountId, QuotaNotice {
	readonly id: string
}

interface QuotaNotice {
	readonly period: string
	readonly threshold: number
	readonly used: number
	readonly included: number
}

interface StoredEntry extends AccountId, QuotaEntry {
	readonly number: number
	readonly at: number
}

interface UsageQuery {
	readonly name: string
	readonly key: string | undefined
	readonly from: number
	readonly until: number
	readonly after: Pick<StoredUsage, 'key' | 'hour'> | undefined
	readonly limit: number
}

interface StoredUsage extends AccountId, UsageLine {}

interface EntryQuery {
	readonly name: string
	readonly key: string | undefined
	readonly after: number
	readonly limit: number
}

interface StrandedQuery {
	readonly name: string
	readonly key: string | undefined
	readonly limit: number
}

interface StrandedUnits extends AccountId {
	readonly ref: string
	readonly period: string
	readonly units: number
	readonly at: number
}

declare const TOKEN_MS: number

interface SharedCountersOptions {
	readonly name?: string | undefined
	readonly flushMs?: Duration | undefined
	readonly expireMs?: Duration | undefined
	readonly waitMs?: Duration | undefined
	readonly clock?: Partial<Clock> | undefined
	readonly observers?: readonly Observer[] | undefined
}
export {
	CounterLedger,
	CounterTable,
	CounterBatch,
	LedgerDelta,
	TokenGroup,
	CounterToken,
	AppliedBatch,
	LedgerEntry,
	GroupOutcome,
	LedgerRead,
	ListPage,
	StoredSketchKind,
	SketchTable,
	SketchBatch,
	NewSketchRow,
	HourRange,
	SketchRow,
	MergeableGroupsPage,
	SketchGroup,
	QuotaTable,
	AccountId,
	StoredAccount,
	AccountChange,
	QuotaEntry,
	QuotaEntryKind,
	UsageLine,
	StoredNotice,
	QuotaNotice,
	StoredEntry,
	UsageQuery,
	StoredUsage,
	EntryQuery,
	StrandedQuery,
	StrandedUnits,
	TOKEN_MS,
	SharedCountersOptions
}
