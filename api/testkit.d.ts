// index.d.ts
import { RequestSluice, RateLimitOptions, InflightLimitOptions, SlowDownOptions, ShedOptions } from '@sluice/http'
import {
	MaybePromise,
	AlgorithmName,
	Backend,
	Charge,
	CountedKey,
	Decision,
	ObservedCap,
	ObservedRequest,
	Observer,
	Policy,
	PolicyVerdict,
	Verdict,
	Clock,
	Algorithm,
	Channel,
	PolicyCalendar,
	InflightLimiter,
	Limiter,
	PolicyInput,
	Priority,
	AdaptiveLimit
} from '@sluice/limiter-core'
import { RowStore, Counters } from '@sluice/fleet/backend'
import { LeaseGrant, LeaseRequest, LeaseTerms, MemoryLedger, LeasingBackend } from '@sluice/fleet/leases'
import { MemorySyncLedger, SyncAnswer, SyncBatch, SyncingBackend, SyncOptions } from '@sluice/fleet/sync'
import {
	AlgorithmName as AlgorithmName$1,
	Clock as Clock$1,
	MaybePromise as MaybePromise$1,
	Backend as Backend$1,
	Policy as Policy$1,
	Counter as Counter$1,
	CompiledPolicy as CompiledPolicy$1,
	Verdict as Verdict$1,
	BackendVerdict,
	Answer as Answer$1,
	CountedKey as CountedKey$1
} from '@sluice/limiter-core/backend'

interface HookRequest {
	readonly method: string
	header(name: string): string | undefined
}

interface HookResponse {
	readonly statusCode: number
	status(code: number): void
	send(reply: Reply): unknown
}

interface Reply {
	readonly status?: number
	readonly headers?: Readonly<Record<string, string>>
	readonly body?: string
	readonly parts?: AsyncIterable<string>
}

interface Exchange {
	readonly request: HookRequest
	readonly sluice: RequestSluice | undefined
}

type Handler = (exchange: Exchange) => MaybePromise<Reply>

type RateOptions = RateLimitOptions<HookRequest, HookResponse>

type CapOptions = InflightLimitOptions<HookRequest, HookResponse>

type SlowOptions = SlowDownOptions<HookRequest, HookResponse>

type ShedderOptions = ShedOptions<HookRequest, HookResponse>

type LimiterSpec =
	| {
			readonly kind: 'rate'
			readonly options: RateOptions
	  }
	| {
			readonly kind: 'cap'
			readonly options: CapOptions
	  }
	| {
			readonly kind: 'slow'
			readonly options: SlowOptions
	  }
	| {
			readonly kind: 'shed'
			readonly options: ShedderOptions
	  }

interface Route {
	readonly path: string
	readonly limits?: readonly LimiterSpec[]
	readonly handler: Handler
}

interface AppDescription {
	readonly headers?: Readonly<Record<string, string>>
	readonly limits: readonly LimiterSpec[]
	readonly routes: readonly Route[]
	readonly builtPerRequest?: boolean
}

interface RunningApp {
	readonly port: number
	close(): Promise<void>
}

type MakeApp = (description: AppDescription) => MaybePromise<RunningApp>

type Feature =
	| 'built-per-request'
	| 'met-twice'
	| 'headers-before-limits'
	| 'error-handlers'
	| 'closes-connections'
	| 'knows-peer'

declare function rate(options: RateOptions): LimiterSpec

declare function cap(options: CapOptions): LimiterSpec

declare function slow(options: SlowOptions): LimiterSpec

declare function shedder(options: ShedderOptions): LimiterSpec

interface LayeredDescription {
	readonly app: LayerSpec
	readonly routes: readonly LayeredRoute[]
	readonly group?: {
		readonly layer: LayerSpec
		readonly routes: readonly LayeredRoute[]
	}
}

interface LayerSpec {
	readonly shed?: ShedderOptions | false
	readonly rateLimit?: RateOptions | false
	readonly slowDown?: SlowOptions | false
	readonly inflightLimit?: CapOptions | false
	readonly skipLimits?: readonly string[] | true
}

interface LayeredRoute {
	readonly path: string
	readonly layer?: LayerSpec
	readonly handler?: Handler
}

type MakeLayeredApp = (description: LayeredDescription) => MaybePromise<RunningApp>

declare function nativeLayer<Native, Req, Res>(layer: LayerSpec, bridge: HookBridge<Req, Res>): Native

interface HookBridge<Req, Res> {
	request(req: Req): HookRequest
	response(res: Res): HookResponse
}

declare function nativeOptions<Native = never, Req = unknown, Res = unknown>(
	options: object,
	bridge: HookBridge<Req, Res>
): Native
declare function onceEach<T extends object, U>(make: (one: T) => U): (one: T) => U

interface ListItem {
	readonly name: string
	readonly params: Readonly<Record<string, BareItem>>
}
type BareItem = string | number | boolean | Uint8Array

declare function parseList(text: string): ListItem[]
declare function until(
	condition: () => boolean,
	{
		timeoutMs,
		what
	}?: {
		timeoutMs?: number
		what?: string
	}
): Promise<void>
declare class Warnings {
	#private
	listen(): void
	stop(): void
	get codes(): string[]
	get texts(): string[]
}

interface WatchedRequest {
	readonly method: string | undefined
	readonly route: string | undefined
	readonly type: string
}

declare class Watcher implements Observer {
	readonly decisions: Decision[]
	readonly requests: WatchedRequest[]
	readonly events: {
		readonly name: string
		readonly data: Readonly<Record<string, unknown>>
	}[]
	acquired: number
	released: number
	denied: number
	left: number
	mostHeld: number
	fewestHeld: number
	get held(): number
	decided(_key: string, decision: Decision, request?: ObservedRequest): void
	permitAcquired(_key?: string, cap?: ObservedCap): void
	permitReleased(): void
	capDenied(_key?: string, cap?: ObservedCap): void
	capLeft(): void
	event(name: string, data: Readonly<Record<string, unknown>>): void
	count(name: string): number
}

interface AdapterContractOptions {
	readonly without?: readonly Feature[] | undefined
}

declare function adapterContract(runner: TestRunner, makeApp: MakeApp, { without }?: AdapterContractOptions): void
interface TestRunner {
	describe(name: string, define: () => void): unknown
	test(name: string, run: () => void | Promise<void>): unknown
}

interface BanFleet {
	readonly clock: FakeClock
	readonly backends: readonly Backend[]
	readonly isEventual?: boolean
	readonly asksLater?: boolean
	exchange?(): MaybePromise<void>
	close?(): MaybePromise<void>
}

declare class FakeClock implements Clock {
	#private
	constructor({ nowMs, wallMs }?: FakeClockOptions)
	now(): number
	wall(): number
	after(ms: number, run: () => void): () => void
	get pending(): number
	advance(ms: number): void
	stepWall(ms: number): void
}

interface FakeClockOptions {
	readonly nowMs?: number | undefined
	readonly wallMs?: number | undefined
}

type MakeBanFleet = (processes: number) => MaybePromise<BanFleet>

declare function banContract({ describe, test }: TestRunner, makeFleet: MakeBanFleet): void

declare function bypassContract(
	{ describe, test }: TestRunner,
	start: () => MaybePromise<LimitedApp>,
	options?: BypassContractOptions
): void

interface LimitedApp extends RunningApp {
	readonly kept?: () => MaybePromise<number>
	readonly held?: () => MaybePromise<number>
}

interface BypassContractOptions {
	readonly path?: string | undefined
	readonly method?: string | undefined
	readonly limit?: number | undefined
	readonly headers?: Readonly<Record<string, string>> | undefined
	readonly isHandled?: ((answer: BypassAnswer) => boolean) | undefined
	readonly http2?: boolean | undefined
	readonly except?: Readonly<Record<string, string>> | undefined
}

type BypassAnswer = Pick<Answered, 'status' | 'headers' | 'body'>

interface Answered {
	readonly status: number
	readonly reason: string
	readonly headers: Readonly<Record<string, string>>
	readonly body: string
	readonly reused: boolean
}

declare function algorithmContract({ describe, test }: TestRunner, algorithm: Algorithm): void

interface BackendContractOptions {
	readonly ownModels?: boolean | undefined
	readonly algorithms?: readonly AlgorithmName$1[] | undefined
	readonly oneWindow?: boolean | undefined
	readonly keepsHolds?: boolean | undefined
	readonly booksTurns?: boolean | undefined
	readonly answersWithoutClock?: boolean | undefined
	readonly histories?: number | undefined
	readonly except?: Readonly<Record<string, string>> | undefined
}

declare function backendContract(
	{ describe, test }: TestRunner,
	makeBackend: MakeBackend,
	{
		ownModels,
		algorithms: kept,
		oneWindow,
		keepsHolds,
		booksTurns,
		answersWithoutClock,
		histories,
		except
	}?: BackendContractOptions
): void

type MakeBackend = (clock: Clock$1) => MaybePromise$1<Backend$1>

interface ChannelFleet {
	open(): MaybePromise<Channel>
	exchange(): Promise<void>
	close(): MaybePromise<void>
}

declare function channelContract({ describe, test }: TestRunner, makeFleet: () => MaybePromise<ChannelFleet>): void

type Command =
	| {
			readonly kind: 'wait'
			readonly ms: number
	  }
	| {
			readonly kind: 'take' | 'peek'
			readonly cost: number
	  }
	| {
			readonly kind: 'adjust'
			readonly units: number
			readonly back: number
	  }

declare function randomCommand(random: SeededRandom, policy: Policy, halves: boolean): Command
interface SeededRandom {
	next(): number
	whole(below: number): number
	pick<T>(choices: readonly T[]): T
}

declare function contractPolicies(algorithm: AlgorithmName): Policy[]

interface CounterContractOptions {
	readonly durable?: boolean | undefined
	readonly tokens?: boolean | undefined
}

interface CounterFleet {
	open(): MaybePromise<Counters>
	close(): MaybePromise<void>
}

declare function counterContract(
	{ describe, test }: TestRunner,
	makeFleet: MakeCounterFleet,
	{ durable, tokens }?: CounterContractOptions
): void

type MakeCounterFleet = (clock: FakeClock) => MaybePromise<CounterFleet>

interface HoldContractOptions {
	readonly calendar?: PolicyCalendar | undefined
}

declare function holdContract(
	{ describe, test }: TestRunner,
	makeBackend: MakeBackend,
	{ calendar }?: HoldContractOptions
): void
declare const hostileKeys: readonly string[]

interface InflightContractOptions {
	readonly longestHoldMs?: number | undefined
}

declare function inflightContract(
	{ describe, test }: TestRunner,
	makeLimiter: MakeInflightLimiter,
	{ longestHoldMs }?: InflightContractOptions
): void

type MakeInflightLimiter = (options: MadeInflightOptions) => MaybePromise<InflightLimiter>

interface MadeInflightOptions {
	readonly limit: number
	readonly clock: Clock
	readonly observers: readonly Observer[]
	readonly maxHoldMs?: number | undefined
}

declare function openedCounter(backend: Backend$1, scope: string, policy: Policy$1): Counter$1

declare class PolicyDriver {
	#private
	readonly compiled: CompiledPolicy$1
	readonly cells: Float64Array
	readonly at: number
	constructor(compiled: CompiledPolicy$1)
	reset(): void
	take(now: number, cost: number): Verdict$1
	takeInOnePass(now: number, cost: number): Verdict$1
	peek(now: number, cost: number): Verdict$1
	adjust(now: number, units: number, takenAt: number): number
	adopt(now: number, used: number, resetAfterMs: number): void
	under(compiled: CompiledPolicy$1): PolicyDriver
	get strayWrites(): number
}

type MakeRowStore = () => MaybePromise<RowStore>

interface RowStoreContractOptions {
	readonly passTime?: ((ms: number) => MaybePromise<void>) | undefined
	readonly writers?: number | undefined
}

declare function rowStoreContract(
	{ describe, test }: TestRunner,
	makeStore: MakeRowStore,
	{ passTime, writers }?: RowStoreContractOptions
): void

declare function assertSameVerdict(policy: Policy$1, got: AnsweredNumbers, expected: Verdict$1, about: string): void

type AnsweredNumbers = Omit<BackendVerdict, 'policy' | 'shadow'>

declare function failingBackend(fail: () => never | Promise<never>, name?: string): Backend$1

declare class LeasedFleet {
	#private
	readonly clock: FakeClock
	readonly ledger: MemoryLedger
	readonly terms: LeaseTerms
	readonly processes: LeasedProcess[]
	asks: number
	tamper: (ask: LeaseRequest) => LeaseRequest
	constructor(random: SeededRandom, terms: LeaseTerms, network: LeaseNetwork)
	start(): LeasedProcess
	nextRate(): number
	carry(from: LeasedProcess, asks: readonly LeaseRequest[]): Promise<readonly LeaseGrant[]>
	deliver<T>(from: LeasedProcess, ask: () => T): Promise<T>
	pass(ms: number): Promise<void>
}

declare class LeasedProcess {
	#private
	readonly backend: LeasingBackend
	state: 'runs' | 'stopped' | 'gone'
	constructor(fleet: LeasedFleet)
	run(run: () => void): void
	stop(): void
	wake(): void
	kill(): void
}

interface LeaseNetwork {
	readonly lostOneIn: number
	readonly lateOneIn: number
}

declare class NodeClock implements Clock {
	#private
	constructor(clock: FakeClock, rate?: number)
	now(): number
	wall(): number
	after(ms: number, run: () => void): () => void
	get pending(): number
	get isStopped(): boolean
	deliver(run: () => void): void
	stop(): void
	resume(): void
}

declare function effectiveLevel(estimate: number, elapsedMs: number, pending: number, leakPerSecond: number): number

declare function epochOf(unixSeconds: number, windowSeconds: number): number

interface PublishedAnswer {
	readonly limited: boolean
	readonly level: number
}

declare class PublishedLimiter {
	#private
	constructor({ clock, store, threshold, windowSeconds, syncSeconds }: PublishedOptions)
	get toRead(): ReadonlySet<string>
	pendingOf(key: string): number
	check(key: string, units?: number): PublishedAnswer
	tick(): void
}

interface PublishedOptions {
	readonly clock: Pick<Clock, 'now' | 'wall'>
	readonly store: PublishedStore
	readonly threshold?: number | undefined
	readonly windowSeconds?: number | undefined
	readonly syncSeconds?: number | undefined
}

declare class PublishedStore {
	#private
	add(key: string, epoch: number, units: number): void
	count(key: string, epoch: number): number
}

declare function syncIntervalMs(pressure: number, syncSeconds: number): number | undefined

declare function tierOf(pressure: number): 'idle' | 'low' | 'normal' | 'hot'

declare function weightedCount(previous: number, current: number, unixSeconds: number, windowSeconds: number): number

declare function sentAnswer({ takes }: SyncBatch, answer: SyncAnswer, laterMs: number): SyncAnswer

declare function sentBatch(batch: SyncBatch, laterMs: number): SyncBatch

interface FleetNode {
	readonly clock: NodeClock
	readonly backend: SyncingBackend
	readonly limiter: Limiter<Decision>
}

interface Network {
	readonly delayMs: number
	readonly loss?: number
	readonly doubles?: number
}

declare class SyncedFleet {
	#private
	readonly clock: FakeClock
	readonly ledger: MemorySyncLedger
	exchanges: number
	isCut: boolean
	constructor(options: SyncedFleetOptions)
	get nodes(): readonly FleetNode[]
	restart(node: number): void
	pass(ms: number): Promise<void>
	settle(): Promise<void>
	used(key: string, policy?: number): number
	units(key: string, policy?: number): number
	close(): Promise<void>
}

interface SyncedFleetOptions {
	readonly nodes: number
	readonly policy: PolicyInput
	readonly network: Network
	readonly random: SeededRandom
	readonly sync?: SyncOptions | undefined
	readonly onBackendError?: 'allow' | 'deny' | 'local' | undefined
	readonly rateOf?: ((node: number) => number) | undefined
	readonly morePolicies?: readonly PolicyInput[] | undefined
}

declare class FrontCounters {
	#private
	constructor(behind: Backend$1)
	open<A extends MaybePromise$1<Answer$1>>(
		front: Pick<Backend$1<A>, 'takeAll'>,
		compiled: CompiledPolicy$1,
		name: string
	): Counter$1<A>
	behind<T extends CountedKey$1>(counted: readonly T[]): T[]
}

declare class ReferenceBackend {
	#private
	take(charges: readonly Charge[], now: number): PolicyVerdict[]
	peek(charges: readonly Charge[], now: number): PolicyVerdict[]
	adjust(charges: readonly Charge[], takenAt: number, now: number): PolicyVerdict[]
	reset(charges: readonly CountedKey[]): void
}

interface ReferenceModel {
	readonly capacity: number
	take(now: number, cost: number): Verdict
	peek(now: number, cost: number): Verdict
	adjust(now: number, units: number, takenAt: number): number
}

declare function referenceModel(policy: Policy): ReferenceModel

declare class EventLoopModel implements Clock {
	#private
	workedMs: number
	now(): number
	wall(): number
	after(ms: number, run: () => void): () => void
	get pending(): number
	on(atMs: number, run: () => void): void
	work(ms: number): void
	run(untilMs: number): void
}

interface EventLoopRunOptions {
	readonly model: EventLoopModel
	readonly random: SeededRandom
	readonly sources: readonly LoopSource[]
	readonly durationMs: number
	readonly workMs: (random: SeededRandom) => number
	readonly refusalMs: number
	readonly waitMs?: ((random: SeededRandom) => number) | undefined
	admits(priority: Priority): boolean
}

interface LoopSource {
	readonly priority: Priority
	readonly rate: (atMs: number) => number
}

interface LoopRequest {
	readonly priority: Priority
	readonly atMs: number
	isAdmitted: boolean | undefined
	endMs: number | undefined
}

declare function runEventLoop(options: EventLoopRunOptions): LoopRequest[]

declare const BIMODAL: OverloadModel

interface OverloadModel extends Pick<OverloadRunOptions, 'serviceMs' | 'durationMs'> {
	readonly perSecond: number
	readonly workers?: number
}

interface OverloadRunOptions {
	readonly clock: FakeClock
	readonly random: SeededRandom
	readonly cap: InflightLimiter
	readonly workers: number
	readonly serviceMs: (atMs: number, random: SeededRandom) => number
	readonly sources: readonly LoadSource[]
	readonly durationMs: number
}

interface LoadSource {
	readonly rate: (atMs: number) => number
	readonly priority?: Priority | undefined
	readonly client?: string | (() => string) | undefined
	readonly key?: string | undefined
	readonly weight?: number | undefined
}

declare const DRIFTING: OverloadModel

declare function playModel(
	random: SeededRandom,
	{ perSecond, workers, ...rest }: OverloadModel,
	limit: number | AdaptiveLimit
): Promise<OverloadResult>

interface OverloadResult {
	readonly sources: readonly SourceResult[]
	readonly completedPerSecond: readonly number[]
	readonly limits: readonly number[]
}

interface SourceResult {
	arrived: number
	admitted: number
	completed: number
	refused: number
	readonly latencies: number[]
}

declare function quantileOf(numbers: readonly number[], share: number): number

declare function runOverload(options: OverloadRunOptions): Promise<OverloadResult>

declare class WorkerModel {
	#private
	constructor(workers: number, clock: Clock)
	serve(serviceMs: number, done: () => void): void
}

declare function overridesContract(runner: TestRunner, makeApp: MakeLayeredApp): void

declare function baseSeed(): number

declare function eachSeed(
	runs: number,
	body: (random: SeededRandom, seed: number) => void | Promise<void>
): Promise<void>

declare function numberOfRuns(runs: number): number

declare function seededRandom(seed: number): SeededRandom

interface Arrival {
	readonly atMs: number
	readonly key: number
}

declare function burstGaps(random: SeededRandom, size: number, meanMs: number): Draw

type Draw = () => number

declare function poissonGaps(random: SeededRandom, meanMs: number): Draw

declare function traffic(count: number, gap: Draw, key: Draw, wholeMs?: boolean): Generator<Arrival>

declare function uniformKeys(random: SeededRandom, keys: number): Draw

declare function zipfKeys(random: SeededRandom, keys: number, exponent?: number): Draw
export {
	type HookRequest,
	type HookResponse,
	type Reply,
	type Exchange,
	type Handler,
	type RateOptions,
	type CapOptions,
	type SlowOptions,
	type ShedderOptions,
	type LimiterSpec,
	type Route,
	type AppDescription,
	type RunningApp,
	type MakeApp,
	type Feature,
	type rate,
	type cap,
	type slow,
	type shedder,
	type LayeredDescription,
	type LayeredRoute,
	type LayerSpec,
	type MakeLayeredApp,
	nativeLayer,
	type HookBridge,
	nativeOptions,
	onceEach,
	type ListItem,
	parseList,
	until,
	Warnings,
	type WatchedRequest,
	Watcher,
	type AdapterContractOptions,
	adapterContract,
	type BanFleet,
	type MakeBanFleet,
	banContract,
	bypassContract,
	type BypassAnswer,
	type BypassContractOptions,
	type LimitedApp,
	algorithmContract,
	type BackendContractOptions,
	backendContract,
	type MakeBackend,
	type ChannelFleet,
	channelContract,
	type Command,
	randomCommand,
	contractPolicies,
	type CounterContractOptions,
	type CounterFleet,
	counterContract,
	type MakeCounterFleet,
	type HoldContractOptions,
	holdContract,
	hostileKeys,
	type InflightContractOptions,
	inflightContract,
	type MadeInflightOptions,
	type MakeInflightLimiter,
	openedCounter,
	PolicyDriver,
	type MakeRowStore,
	type RowStoreContractOptions,
	rowStoreContract,
	assertSameVerdict,
	failingBackend,
	FakeClock,
	type FakeClockOptions,
	LeasedFleet,
	type LeasedProcess,
	type LeaseNetwork,
	NodeClock,
	effectiveLevel,
	epochOf,
	type PublishedAnswer,
	PublishedLimiter,
	type PublishedOptions,
	PublishedStore,
	syncIntervalMs,
	tierOf,
	weightedCount,
	sentAnswer,
	sentBatch,
	type FleetNode,
	type Network,
	SyncedFleet,
	type SyncedFleetOptions,
	FrontCounters,
	ReferenceBackend,
	type ReferenceModel,
	referenceModel,
	EventLoopModel,
	type EventLoopRunOptions,
	type LoopRequest,
	type LoopSource,
	runEventLoop,
	BIMODAL,
	DRIFTING,
	type OverloadModel,
	playModel,
	type LoadSource,
	type OverloadResult,
	type OverloadRunOptions,
	quantileOf,
	runOverload,
	type SourceResult,
	WorkerModel,
	overridesContract,
	baseSeed,
	eachSeed,
	numberOfRuns,
	type SeededRandom,
	seededRandom,
	type TestRunner,
	type Arrival,
	burstGaps,
	type Draw,
	poissonGaps,
	traffic,
	uniformKeys,
	zipfKeys
}
export { type Change as Change } from '@sluice/fleet/backend'
export { type Row as Row } from '@sluice/fleet/backend'
export { type RowStore as RowStore } from '@sluice/fleet/backend'
export { type RowVersion as RowVersion } from '@sluice/fleet/backend'
export { type RowWriteOptions as RowWriteOptions } from '@sluice/fleet/backend'
export { type LeaseGrant as LeaseGrant } from '@sluice/fleet/leases'
export { type LeaseLedger as LeaseLedger } from '@sluice/fleet/leases'
export { type LeaseRequest as LeaseRequest } from '@sluice/fleet/leases'
export { type LeaseTerms as LeaseTerms } from '@sluice/fleet/leases'
export { type MemoryLedger as MemoryLedger } from '@sluice/fleet/leases'
export { type MemorySyncLedger as MemorySyncLedger } from '@sluice/fleet/sync'
export { type ReportedTakes as ReportedTakes } from '@sluice/fleet/sync'
export { type SyncAnswer as SyncAnswer } from '@sluice/fleet/sync'
export { type SyncBatch as SyncBatch } from '@sluice/fleet/sync'
export { type SyncLedger as SyncLedger } from '@sluice/fleet/sync'
export { type AlgorithmName as AlgorithmName } from '@sluice/limiter-core'
export { type Answer as Answer } from '@sluice/limiter-core'
export { type Backend as Backend } from '@sluice/limiter-core'
export { type Charge as Charge } from '@sluice/limiter-core'
export { type CompiledPolicy as CompiledPolicy } from '@sluice/limiter-core'
export { type CountEstimate as CountEstimate } from '@sluice/limiter-core'
export { type CountedKey as CountedKey } from '@sluice/limiter-core'
export { type Counter as Counter } from '@sluice/limiter-core'
export { type Decision as Decision } from '@sluice/limiter-core'
export { type HeldUnits as HeldUnits } from '@sluice/limiter-core'
export { type Interruption as Interruption } from '@sluice/limiter-core'
export { type MaybePromise as MaybePromise } from '@sluice/limiter-core'
export { type Moment as Moment } from '@sluice/limiter-core'
export { type ObservedCap as ObservedCap } from '@sluice/limiter-core'
export { type ObservedRequest as ObservedRequest } from '@sluice/limiter-core'
export { type Observer as Observer } from '@sluice/limiter-core'
export { type Policy as Policy } from '@sluice/limiter-core'
export { type PolicyVerdict as PolicyVerdict } from '@sluice/limiter-core'
export { type Verdict as Verdict } from '@sluice/limiter-core'
