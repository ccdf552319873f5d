// backend.d.ts
import {
	Backend,
	MaybePromise,
	Answer,
	BackendVerdict,
	PolicyVerdict,
	Policy,
	AlgorithmName,
	Fund,
	CompiledPolicy,
	PolicyVariant,
	PolicyHolds,
	PolicyBookings,
	Counter,
	Moment,
	IdempotencyKey,
	Decision,
	Charge,
	CountedKey,
	PriorUsage,
	AdmittedUnits,
	Observer,
	Clock,
	Algorithm,
	PolicyInput,
	Duration,
	Environment,
	MemoryBackendOptions,
	RequestBackend,
	RequestDecision,
	FailoverRule,
	Observers,
	HeldPermit
} from './types.js'

declare class BookingPolicy extends WrappedPolicy implements PolicyBookings {
	#private
	readonly paceMs: number
	readonly most: number
	readonly longestMs: number
	readonly isWeighted: boolean
	readonly bookings: PolicyBookings
	readonly holds: PolicyHolds | undefined
	constructor(inner: CompiledPolicy)
	take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void
	numbers(cells: Float64Array, at: number, now: number, cost: number, waitMs: number, numbers: Float64Array): void
	waitMs(cells: Float64Array, at: number, now: number, cost: number): number
	spend(cells: Float64Array, at: number, now: number, cost: number): void
	pass(cells: Float64Array, at: number, now: number, cost: number): void
	book(cells: Float64Array, at: number, now: number, cost: number): boolean
	remaining(cells: Float64Array, at: number, now: number): number
	keptMs(cells: Float64Array, at: number, now: number): number
	untilNextMs(cells: Float64Array, at: number, now: number): number
}

declare abstract class WrappedPolicy extends UsagePolicy {
	readonly cells: number
	readonly room?: number
	readonly variants: readonly PolicyVariant[] | undefined
	readonly inner: CompiledPolicy
	protected readonly first: number
	constructor(inner: CompiledPolicy, ownCells: number, policy?: Policy, capacity?: number)
	spend(cells: Float64Array, at: number, now: number, cost: number): void
	adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
	resetAfterMs(cells: Float64Array, at: number, now: number): number
	keptMs(cells: Float64Array, at: number, now: number): number
	adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
}

declare abstract class UsagePolicy implements CompiledPolicy {
	readonly policy: Policy
	abstract readonly cells: number
	readonly instants?: readonly number[] | undefined
	readonly capacity: number
	protected readonly windowMs: number
	constructor(policy: Policy, capacity: number)
	abstract waitMs(cells: Float64Array, at: number, now: number, cost: number): number
	abstract spend(cells: Float64Array, at: number, now: number, cost: number): void
	abstract adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
	abstract remaining(cells: Float64Array, at: number, now: number): number
	abstract resetAfterMs(cells: Float64Array, at: number, now: number): number
	keptMs(cells: Float64Array, at: number, now: number): number
	abstract adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
	take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void
	numbers(cells: Float64Array, at: number, now: number, cost: number, waitMs: number, numbers: Float64Array): void
	protected fits(_cells: Float64Array, _at: number, _now: number, _cost: number): boolean
	protected firstFitMs(cells: Float64Array, at: number, now: number, cost: number, guess: number): number
	protected searchFitMs(cells: Float64Array, at: number, now: number, cost: number, guess: number): number
}

declare class CompiledVariants extends UsagePolicy {
	#private
	readonly cells: number
	readonly variants: readonly PolicyVariant[]
	readonly instants: readonly number[] | undefined
	constructor(variants: readonly PolicyVariant[])
	waitMs(cells: Float64Array, at: number, now: number, cost: number): number
	spend(cells: Float64Array, at: number, now: number, cost: number): void
	adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
	remaining(cells: Float64Array, at: number, now: number): number
	resetAfterMs(cells: Float64Array, at: number, now: number): number
	keptMs(cells: Float64Array, at: number, now: number): number
	adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
}

declare class HoldingPolicy extends WrappedPolicy implements PolicyHolds {
	#private
	readonly sliceMs: number
	readonly holds: PolicyHolds
	constructor(inner: CompiledPolicy, sliceMs: number)
	take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void
	waitMs(cells: Float64Array, at: number, now: number, cost: number): number
	remaining(cells: Float64Array, at: number, now: number): number
	resetAfterMs(cells: Float64Array, at: number, now: number): number
	keptMs(cells: Float64Array, at: number, now: number): number
	adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
	endsAt(now: number, forMs: number): number
	heldOf(cells: Float64Array, at: number, now: number, units: number, endsAt: number): number
	hold(cells: Float64Array, at: number, now: number, units: number, endsAt: number): void
	release(cells: Float64Array, at: number, now: number, units: number, endsAt: number): number
}

declare function holdsName(sliceMs: number): string

declare const algorithms: Readonly<Record<AlgorithmName, Algorithm>>

declare function drainPerMs({ algorithm, limit, windowMs }: Policy): number

declare function formOf(policy: Policy): string

declare function retentionMs(compiled: CompiledPolicy): number

declare const NUMBERS = 4
declare function firstWholeMs(guess: number, passes: (ms: number) => boolean): number

declare function wholeMsUntil(instant: number, now: number): number

declare function causeOf(error: unknown): string

declare function concernsOneKey(error: unknown): boolean
declare class LateError extends Error {
	readonly code = 'LATE'
	readonly mayHaveCounted: boolean
	constructor(message: string, mayHaveCounted: boolean)
}

declare class MalformedAnswer extends Error {
	readonly code = 'MALFORMED'
	readonly mayHaveCounted = true
	constructor(part: string, received: unknown, expected: string)
}

interface ChargePart {
	readonly backend: Pick<Backend, 'takeAll' | 'adjustAll'>
	readonly indexes: readonly number[]
	readonly charges: readonly Charge[]
}

declare function mergedAnswer(parts: readonly Pick<ChargePart, 'indexes'>[], answers: readonly Answer[]): Answer

declare function takeParts(parts: readonly ChargePart[], moment?: Moment, peek?: PeekPart): MaybePromise<Answer>

type PeekPart = (part: ChargePart) => MaybePromise<Answer>

declare function checkedAnswer(answer: Answer, charges: readonly Asked[]): Answer

type Asked = Pick<Charge, 'counter' | 'advisory'>

declare class GroupedBackend implements RequestBackend {
	#private
	constructor(backendOf: ReadonlyMap<Counter, RequestBackend>)
	takeAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer>
	peekAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer>
	adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer>
	resetAll(keys: readonly CountedKey[]): MaybePromise<void>
}

declare const IDEMPOTENT_MS = 30000

declare function newIdempotencyKey(now: number): IdempotencyKey

declare function markInfallible<B extends Backend>(backend: B): B

declare function countedUnits(compiled: CompiledPolicy, cells: Float64Array, at: number, now: number): number

declare function lacksUsage(
	compiled: CompiledPolicy,
	cells: Float64Array,
	at: number,
	now: number,
	{ used, admitted }: PriorUsage
): boolean

declare function restoreUsage(
	compiled: CompiledPolicy,
	cells: Float64Array,
	at: number,
	now: number,
	known: PriorUsage
): void

declare function storedNameOf(counter: Counter): string

declare function targetId({ key, counter }: { readonly key: string; readonly counter: Pick<Counter, 'name'> }): string

declare class SoleDecision implements Decision, PolicyVerdict {
	readonly source: string
	readonly policy: Policy
	readonly remaining: number
	readonly retryAfterMs: number
	readonly resetAfterMs: number
	readonly takenAt: number
	readonly availableAfterMs: number
	readonly counted: boolean
	readonly shadow: boolean
	constructor(
		source: string,
		policy: Policy,
		remaining: number,
		retryAfterMs: number,
		resetAfterMs: number,
		takenAt: number,
		availableAfterMs?: number,
		counted?: boolean,
		shadow?: boolean
	)
	get allowed(): boolean
	get verdicts(): readonly PolicyVerdict[]
	get binding(): PolicyVerdict
	toJSON(): Decision
}

declare function plainVerdict(verdict: BackendVerdict): PolicyVerdict

declare function withFund<V extends PolicyVerdict>(verdict: V, fund: Fund | undefined): V

declare class EnvironmentReader {
	#private
	constructor(prefix: string, environment: Environment)
	text(name: string): string | undefined
	number(name: string): number | undefined
	limit(name: string): number | undefined
	oneOf(name: string, words: readonly string[]): string | undefined
	duration(name: string): Duration | undefined
	limits(name: string): Readonly<Record<string, number>> | undefined
	check<T>(run: () => T): T | undefined
	refuse(): void
}

declare function resetWarnings(): void

declare const ALLOW_RULE: FailureRule

interface FailureRule {
	readonly source: FailoverRule['source']
	take(charges: readonly FailoverCharge[], now: number, basis: Basis): Answer
	peek(charges: readonly FailoverCharge[], now: number): Answer
	adjust(charges: readonly FailoverCharge[], takenAt: number, now: number, basis: Basis): Answer
}

type FailoverCharge = Charge<FailoverCounter>

declare class FailoverCounter implements Counter<MaybePromise<Answer>> {
	#private
	readonly compiled: CompiledPolicy
	readonly name: string
	readonly remote: Counter
	readonly mirror: MirrorCounter
	readonly rule: FailureRule
	constructor(backend: TakeOne$1, remote: Counter, mirror: MirrorCounter, rule: FailureRule)
	take(key: string, cost: number, moment?: Moment): MaybePromise<Decision>
	close(): void
}

type MirrorCounter = MemoryCounter<MirrorPolicy>

declare class MemoryCounter<P extends CompiledPolicy = CompiledPolicy> implements Counter<Answer> {
	#private
	readonly compiled: P
	readonly name: string
	readonly slots: CounterSlots
	constructor(backend: TakeOne, compiled: P, name: string, slots: CounterSlots)
	take(key: string, cost: number, moment?: Moment): SoleDecision
	takeAdvisory(key: string, cost: number, moment?: Moment): SoleDecision | RequestDecision
}

interface CounterSlots {
	readonly compiled: CompiledPolicy
	readonly usage: CompiledPolicy
	readonly arena: Arena
	readonly low: number
	readonly high: number
	readonly fractionOfUnit: number
	readonly keptMs: CompiledPolicy['keptMs'] | undefined
	readonly forms: readonly PolicyVariant[]
}

declare class Arena implements Spender {
	#private
	readonly place: SlotRef
	constructor(cellsPerKey: number, budget: Budget, rehash: RehashBuffer, evicted: Evicted)
	get bytes(): number
	get pageBytes(): number
	find(low: number, high: number): boolean
	insert(low: number, high: number, tick: number): void
	release(tick: number): boolean
	shrink(tick: number): boolean
}
interface Spender {
	readonly bytes: number
	readonly pageBytes: number
	release(tick: number): boolean
	shrink(tick: number): boolean
}

interface SlotRef {
	words: Int32Array
	word: number
	expiry: number
	cells: Float64Array
	at: number
}

declare class Budget {
	#private
	constructor(maxBytes: number)
	join(spender: Spender): void
	get spent(): number
	spend(bytes: number): void
	has(bytes: number): boolean
	hasSpare(bytes: number): boolean
	isWithinShare(spender: Spender, bytes: number): boolean
	get isLow(): boolean
	grant(spender: Spender, pages: number, tick: number): number
	refill(tick: number, except?: Spender): void
}

declare class RehashBuffer {
	#private
	count: number
	constructor(keptBytes: number)
	pack(shards: readonly Shard[], { slots, cells }: PageLayout, tick: number, place: SlotRef): void
	low(key: number): number
	tag(key: number): number
	unpack(key: number, { cells }: PageLayout, place: SlotRef): void
	clear(): void
}

declare class Shard {
	#private
	depth: number
	constructor(depth: number, layout: PageLayout)
	get pages(): number
	addPage(): void
	givePages(to: Shard, kept: number): void
	clear(): void
	find(low: number, high: number, place: SlotRef): boolean
	place(low: number, high: number, tick: number, place: SlotRef): boolean
	victim(low: number, high: number, place: SlotRef): void
	each(tick: number, place: SlotRef, visit: () => void): void
	livePart(tick: number): number
}

declare class PageLayout {
	readonly cells: number
	readonly sets: number
	readonly bits: number
	readonly stride: number
	readonly expiry: number
	readonly bufferBytes: number
	constructor(cells: number)
	get slots(): number
	get bytes(): number
}

type Evicted = (low: number, tag: number, expiry: number) => void

interface TakeOne {
	takeOne(
		counter: MemoryCounter,
		key: string,
		cost: number,
		moment: Moment | undefined,
		isAdvisory: boolean
	): SoleDecision | RequestDecision
}

declare class MirrorPolicy extends WrappedPolicy {
	#private
	readonly fullCapacity: number
	readonly forgetsMs: number
	basis: Basis
	readonly own: OwnUnits
	moved: number
	constructor(compiled: CompiledPolicy, share: number, usesPassed?: boolean)
	waitMs(cells: Float64Array, at: number, now: number, cost: number): number
	spend(cells: Float64Array, at: number, now: number, cost: number): void
	adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
	remaining(cells: Float64Array, at: number, now: number): number
	adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
	adopterOf(reply: BufferedAnswer, owed: number, moved?: number): Pick<CompiledPolicy, 'adopt'>
	missingUsage(
		cells: Float64Array,
		at: number,
		now: number,
		owed: number,
		mayHaveLost: (calledAt: number) => boolean
	): PriorUsage | undefined
}

type Basis = 'counted' | 'uncounted' | 'unsure'

declare class OwnUnits {
	#private
	static readonly cells = 4
	returned: number
	constructor(offset: number, scale: number)
	forget(cells: Float64Array, at: number): void
	add(cells: Float64Array, at: number, now: number, units: number, basis: Basis): void
	unreported(cells: Float64Array, at: number, used: number): UnreportedUnits
	handOut(
		cells: Float64Array,
		at: number,
		now: number,
		{ uncounted, unsure }: UnreportedUnits,
		counted: number
	): AdmittedUnits | undefined
	resolve(cells: Float64Array, at: number, units: number, isCounted: boolean, reported?: AdmittedUnits): void
	handBack(
		cells: Float64Array,
		at: number,
		{ uncounted, unsure, ageMs }: AdmittedUnits,
		now: number,
		basis: Basis
	): void
}

type UnreportedUnits = Pick<AdmittedUnits, 'uncounted' | 'unsure'>

interface BufferedAnswer {
	readonly used: number
	readonly held: number
	readonly resetAfterMs: number
	readonly now: number
	readonly calledAt: number
}

interface TakeOne$1 {
	takeOne(counter: FailoverCounter, key: string, cost: number, moment?: Moment): MaybePromise<Decision>
}

declare const DENY_RULE: FailureRule

declare const OUTAGE_RETRY_MS = 1000

interface Call<T, R> {
	readonly operation: string
	send(limits: Limits, now: number): MaybePromise<T>
	answered(answer: T, now: number): R
	fallback(now: number, basis: Basis): R
}

type Limits = Required<Pick<Moment, 'now' | 'deadlineAt'>>

declare class GuardedCalls {
	#private
	constructor(options: GuardedCallsOptions)
	call<T, R>(call: Call<T, R>, moment?: Moment): MaybePromise<R>
	callUnawaited<T, R>(call: Call<T, R>): void
	skipped(now: number): boolean
	probe(send: () => MaybePromise<unknown>, now: number): void
	close(): void
}

interface GuardedCallsOptions {
	readonly health: Health
	readonly observers: Observers
	readonly clock: Clock
	readonly deadlineMs: number
	readonly answered?: (() => void) | undefined
}

declare class Health {
	#private
	readonly name: string
	readonly breaker: Breaker
	readonly log: FailureLog
	readonly observers: Observers
	constructor(options: HealthOptions)
	failed(cause: string, error: unknown, calledAt?: number): void
	reportFailure(cause: string, error: unknown): void
}

declare class Breaker {
	#private
	constructor(options: BreakerOptions)
	get state(): BreakerState
	admits(): boolean
	succeeded(): void
	failed(calledAt?: number, isLate?: boolean): void
	abandoned(): void
	mayProbe(now?: number): boolean
	probed(tookMs: number, deadlineMs?: number): void
	probeSoon(): void
}

interface BreakerOptions {
	readonly clock: Clock
	readonly deadlineMs: number
	readonly changed: (state: BreakerState) => void
}

type BreakerState = 'closed' | 'open' | 'half-open'

declare class FailureLog {
	#private
	constructor(backend: string, clock: Clock)
	countFallback(): void
	failed(cause: string, error: unknown): void
	recovered(): void
}

interface HealthOptions {
	readonly name: string
	readonly clock: Clock
	readonly deadlineMs: number
	readonly observers: Observers
	readonly changed?: ((state: BreakerState) => void) | undefined
}

declare class MaxHoldTimer {
	#private
	constructor(clock: Clock, maxHoldMs: number)
	add(permit: HeldPermit): void
	delete(permit: HeldPermit): void
	close(): void
}

declare class MaxHoldTimers {
	#private
	constructor(clock: Clock)
	of(maxHoldMs: number | undefined): MaxHoldTimer | undefined
	close(): void
}

declare function pause(ms: number, clock: Clock, signal?: AbortSignal | null, sooner?: Promise<void>): Promise<void>
interface AnswerSource {
	readonly name: string
	readonly counted: boolean
}

declare class MemoryBackend implements Backend<Answer> {
	#private
	readonly name = 'memory'
	readonly synchronous = true
	readonly perProcess = true
	readonly keepsHolds = true
	readonly booksTurns = true
	source: AnswerSource
	constructor(maxBytes: number, clock: Clock, source?: AnswerSource)
	get bytes(): number
	open<P extends CompiledPolicy>(compiled: P, name: string): MemoryCounter<P>
	takeAll(charges: readonly Charge[], moment?: Moment): Answer
	takeOne(
		{ slots }: MemoryCounter,
		key: string,
		cost: number,
		moment: Moment | undefined,
		isAdvisory: boolean
	): SoleDecision | RequestDecision
	peekAll(charges: readonly Charge[], moment?: Moment): Answer
	adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Answer
	resetAll(keys: readonly CountedKey[]): void
	look({ key, counter }: CountedKey, now: number): SlotRef
	adopt({ key, counter }: CountedKey, known: PriorUsage, now: number, by?: Pick<CompiledPolicy, 'adopt'>): void
	observe(observer: Observer): () => void
	close(): void
}

declare function processMemory(options?: MemoryBackendOptions): Backend<Answer>

declare function countName(scope: string, { name }: Pick<Policy, 'name'>, cells: string): string

declare function parseScope(scope: unknown): string

declare function meantBy(name: string, known: readonly string[]): string | undefined

declare function compilePolicy(input: PolicyInput, fallback?: AlgorithmName): Policy

declare function isTimeZone(value: unknown): value is string

declare class PolicyVariants {
	#private
	constructor(policies: readonly Policy[], largestOverride?: number, keepsHolds?: boolean)
	compile(policy: Policy, limit?: number, windowMs?: number): CompiledPolicy
	get layoutName(): string
}

declare function repeatEvery(clock: Clock, tickMs: number, run: () => void): () => void
export {
	type Backend,
	type CapControls,
	type CapHandle,
	type AdaptiveLimit,
	type LearnedLimits,
	type Cap,
	type AcquireOptions,
	type InflightBackend,
	type KeyShare,
	type SharedKey,
	type ShareReport,
	type SharedState,
	type PermitOutcome,
	type Permit,
	type Denial,
	type Charge,
	type Clock,
	type TimerOptions,
	type CountEstimate,
	type DecisionOf,
	type Counter,
	type CountedKey,
	type AnswerOrigin,
	type Answer,
	type BanTerms,
	type Algorithm,
	type CompiledPolicy,
	type PolicyBookings,
	type PolicyHolds,
	type PolicyVariant,
	type Decision,
	type Held,
	type HoldChange,
	type Policy,
	type PolicyCalendar,
	type AlgorithmName,
	type Verdict,
	type PolicyVerdict,
	type Fund,
	type BackendVerdict,
	type DenialReason,
	type HeldUnits,
	type Interruption,
	type LimitOverrides,
	type PrepareLimits,
	type LimiterControls,
	type PolicyControl,
	type MaybePromise,
	isPromise,
	andThen,
	allOf,
	type MetricSource,
	type Metric,
	type ValueMetric,
	type BucketMetric,
	type ValueSample,
	type BucketSample,
	type MetricBucket,
	type MetricLabels,
	type Moment,
	type IdempotencyKey,
	type ObservedLimiter,
	type ObservedPolicy,
	type ObserverEvent,
	type ObservedRequest,
	type ObservedCap,
	type Observer,
	type PriorUsage,
	type AdmittedUnits,
	type Priority,
	type RequestHook,
	type RequestView,
	type Channel,
	type PublishOptions,
	type RecordStore,
	type Script,
	type ScriptRunner,
	type SqlRunner,
	type RequestBackend,
	ChargeVerdict,
	hasDenial,
	RequestDecision,
	type Environment,
	badOption,
	messageOf,
	type SluiceCode,
	SluiceError,
	kindOf,
	shown,
	warn,
	warnOnce,
	type BackendErrorRule,
	compileFailover,
	type FailoverOptions,
	type FailoverRule,
	Deadlines,
	FULL,
	WEIGHT_EXCEEDS_LIMIT,
	HeldPermit,
	type PermitOwner,
	joinedKey,
	Observers,
	integerFrom,
	oneOf,
	optionalFunction,
	optionsOf,
	checkedUnits,
	type PolicyInput,
	processWideMap,
	afterThisTurn,
	clockOf,
	isSystemClock,
	KEEP_ALIVE,
	systemClock,
	type Duration,
	parseDuration,
	parseMs,
	parseTimerMs
} from './types.js'
export {
	BookingPolicy,
	CompiledVariants,
	HoldingPolicy,
	holdsName,
	algorithms,
	drainPerMs,
	formOf,
	retentionMs,
	NUMBERS,
	firstWholeMs,
	wholeMsUntil,
	WrappedPolicy,
	causeOf,
	concernsOneKey,
	LateError,
	MalformedAnswer,
	type ChargePart,
	mergedAnswer,
	takeParts,
	checkedAnswer,
	GroupedBackend,
	IDEMPOTENT_MS,
	newIdempotencyKey,
	markInfallible,
	countedUnits,
	lacksUsage,
	restoreUsage,
	storedNameOf,
	targetId,
	SoleDecision,
	plainVerdict,
	withFund,
	EnvironmentReader,
	resetWarnings,
	ALLOW_RULE,
	DENY_RULE,
	OUTAGE_RETRY_MS,
	type Call,
	GuardedCalls,
	Breaker,
	type BreakerOptions,
	type BreakerState,
	Health,
	type MaxHoldTimer,
	MaxHoldTimers,
	pause,
	type AnswerSource,
	MemoryBackend,
	MemoryCounter,
	processMemory,
	countName,
	parseScope,
	meantBy,
	compilePolicy,
	isTimeZone,
	PolicyVariants,
	repeatEvery
}

// http.d.ts
import {
	Backend,
	MaybePromise,
	Answer,
	PolicyVerdict,
	Policy,
	Counter,
	Moment,
	RequestView,
	Decision,
	Charge,
	CountedKey,
	BanTerms,
	LimiterControls,
	CapControls,
	AdaptiveLimit,
	Clock,
	LearnedLimits,
	AcquireOptions,
	Cap,
	PermitOutcome,
	InflightBackend,
	Permit,
	Denial,
	LimitOverrides,
	PolicyInput,
	Duration,
	Mode,
	SluiceCode,
	SluiceError,
	HeaderLine,
	HttpDenial,
	InflightLimiterOptions,
	InflightLimiter,
	AddressRules,
	AddressRange,
	AddressOptions,
	DENY,
	EXEMPT,
	KeySource,
	ReportFallback,
	Keys,
	Costs,
	CommonOptions,
	Limiter,
	HoldOptions,
	Hold,
	Outcome,
	RequestBackend,
	FailoverRule,
	Observers,
	HeldPermit,
	PermitOwner
} from './types.js'

declare const LARGEST_LOG = 128

declare function banCallsEnded(): Promise<void>

declare function hasTaken({ allowed, verdicts }: Decision, policyName: string): boolean

declare function binds(a: PolicyVerdict, b: PolicyVerdict): boolean

declare function badValue(code: SluiceCode, option: string, received: unknown, expected: string): SluiceError

declare const DRAFT: ListDialect

interface ListDialect {
	readonly available: string
	readonly seconds: string
}

declare const ROUNDING_ERROR_MS = 0.001

declare function stringItem(text: string): string

declare function wholeSeconds(ms: number): number

declare const DRAFT_HEADERS: HeaderPlan

interface HeaderPlan {
	readonly list: ListDialect | undefined
	readonly fields: readonly FieldDialect[]
	readonly vendors: readonly Vendor[]
	readonly onAllowed: boolean
}

interface FieldDialect {
	readonly prefix: 'X-RateLimit' | 'RateLimit'
	readonly reset: 'epoch' | 'delta'
}

type Vendor = 'openai' | 'anthropic'

interface HeaderEntry {
	readonly plan: HeaderPlan
	readonly allowed: boolean
	readonly policyItems: string
	readonly rateItems: string
	readonly binding: PolicyVerdict | undefined
	readonly verdicts: readonly PolicyVerdict[]
}

declare function headerLines(entries: readonly HeaderEntry[], wallMs: () => number): HeaderLine[]

declare function httpDenial(status: number, violated: readonly string[], retryAfterMs: number): HttpDenial

declare function policyItems(policies: readonly Policy[], partitionOf?: (policy: Policy) => string): string

declare function rateEntry(
	plan: HeaderPlan,
	policyItems: string,
	decision: Decision,
	partitionOf?: (policy: Policy) => string
): HeaderEntry

declare function soleEntry(plan: HeaderPlan, policyItems: string, verdict: PolicyVerdict): HeaderEntry

declare function violatedPolicies(decision: Decision): string[]

declare const PROBLEM_MEDIA_TYPE = 'application/problem+json'

declare function problemBody(status: number, violated: readonly string[]): string
declare function retryAfterMs(field: string, wallMs: number): number | undefined

declare class BackedInflightLimiter implements InflightLimiter {
	#private
	readonly name: string
	readonly observers: Observers
	controlled: ControlledCap | undefined
	readonly learned: LearnedLimits | undefined
	constructor(
		{ name, limit, maxHoldMs, backend, shared, clock, observers }: InflightLimiterOptions,
		place?: string | undefined,
		local?: InflightBackend | undefined
	)
	get limit(): number
	get maxWeight(): number
	limitOf(key?: string, request?: AcquireOptions): number
	acquire(key?: string, options?: AcquireOptions): MaybePromise<Permit | undefined>
	count(key?: string): MaybePromise<number>
	close(): MaybePromise<void>
}

declare class ControlledCap {
	#private
	readonly cap: Cap
	readonly limit: number | undefined
	readonly mode: CapControls['mode']
	constructor(configured: Cap, controls: readonly CapControls[], hasFixedLimit: boolean)
	denialOf(key: string, weight: number): Denial | undefined
}

declare function isAdaptive(limit: unknown): limit is AdaptiveLimit

declare class MemoryInflight implements InflightBackend, PermitOwner {
	#private
	readonly isLocal = true
	constructor(options: MemoryInflightOptions)
	acquire(key: string, { weight, signal, cap }?: AcquireOptions): Permit | Denial
	count(key: string): number
	released(permit: HeldPermit): void
	close(): void
}

interface MemoryInflightOptions {
	readonly limit: number
	readonly clock: Clock
	readonly maxHoldMs: number | undefined
	readonly released: (key: string, heldMs: number) => void
}

declare class WatchedPermit implements Permit {
	#private
	constructor(permit: Permit, clock: Clock, released: (heldMs: number, outcome: PermitOutcome) => void)
	get lost(): AbortSignal
	release(outcome?: PermitOutcome): unknown
	[Symbol.dispose](): void
}
interface Address {
	readonly version: 4 | 6
	readonly groups: readonly number[]
}

declare function parseAddress(text: string): Address | undefined

declare function withoutPort(text: string): string | undefined

declare function writeIPv6(groups: readonly number[]): string

declare function addressKey(text: string, rules: AddressRules): string | undefined

declare function addressRules(options?: AddressOptions): AddressRules

declare function isWithin(range: AddressRange, groups: readonly number[]): boolean

declare const MAPPED_IPV4: AddressRange

declare function rangeOf(base: string, bits?: number): AddressRange | undefined

declare const NO_ADDRESS = 'no-address'

type ResolvedKey = string | typeof EXEMPT | typeof DENY

declare const reportNothing: ReportFallback

declare function resolveKey<Raw>(
	source: KeySource<Raw>,
	view: RequestView<Raw>,
	report: ReportFallback,
	rules?: AddressRules
): MaybePromise<ResolvedKey>

declare function isPreflight(view: RequestView): boolean

declare function preflightKey<Sign>(key: string | Sign): string | Sign

declare function isHeaderName(name: unknown): name is string

declare function labelOf(source: KeySource<never>): string

interface RequestTerms {
	readonly limits?: readonly (number | undefined)[] | undefined
	readonly windows?: readonly (number | undefined)[] | undefined
}

declare function wholeCost(value: unknown): number

declare class LimiterHold implements Hold {
	#private
	readonly allowed: boolean
	decision: Decision
	readonly forMs: number
	constructor(limiter: HoldingLimiter, parts: readonly TakenPart[], forMs: number, decision: Decision)
	extend(units: Costs): MaybePromise<boolean>
	settle(actual: Costs): MaybePromise<Decision>
	settleOne(name: string, actual: number): MaybePromise<Decision>
	release(): MaybePromise<Decision>
}

interface HoldingLimiter {
	readonly clock: Clock
	take(charges: readonly Charge[], moment?: Moment): MaybePromise<Decision>
	readonly adjustments: {
		adjust(charges: readonly Charge[], takenAt: number, uncounted: boolean): MaybePromise<Answer>
		atLimitOf(taken: Decision, charge: Charge): Charge
	}
}

interface TakenPart {
	readonly policy: HeldPolicy
	readonly units: number
}

declare class HeldPolicy {
	#private
	constructor(charge: Charge, forMs: number)
	get policy(): string
	get mustReturn(): boolean
	more(units: number): Charge
	record(more: number, decision: Decision, charge: Charge): void
	get charge(): Charge
	get isSettled(): boolean
	settle(actual: number): readonly SettlingCharge[]
	giveBack(): readonly SettlingCharge[]
}

interface SettlingCharge {
	readonly charge: Charge
	readonly takenAt: number
	readonly uncounted: boolean
}

declare class KeyTerms {
	#private
	set(key: string, limit: number | undefined, windowMs: number | undefined): void
	knows(key: string): boolean
	of(key: string): Terms | undefined
	follow(previous: KeyTerms): void
}
interface Terms {
	readonly limit: number | undefined
	readonly windowMs: number | undefined
}

declare function backendOf(value: unknown, option: string): Backend

interface LimiterIdentity {
	privateScope?: string
}

interface OpenOptions extends CommonOptions {
	readonly routeScope?: string | undefined
	readonly identity?: LimiterIdentity | undefined
}

declare function openPolicies(plans: readonly (readonly PolicyInput[])[], options: OpenOptions): OpenPolicy[][]

interface OpenPolicy {
	readonly policy: Policy
	readonly counter: Counter
	readonly counters: LimitCounters
	readonly terms?: KeyTerms | undefined
	readonly overrides?: OverrideCounters | undefined
	readonly ban?: OpenBan | undefined
	readonly backend: ChargedBackend
	readonly home: Backend
	readonly mode: Mode
	readonly failover?: FailoverRule
	readonly close: () => void
}

interface LimitCounters {
	readonly own: Counter
	readonly windows: readonly Counter[]
	prepare(limit: number, windowMs?: number): void
	of(limit: number, windowMs?: number): Counter | undefined
}

declare class OverrideCounters {
	#private
	constructor(limits: LimitOverrides, counters: LimitCounters)
	get exemptsOthers(): boolean
	limitOf(key: string): number | undefined
	counterOf(key: string, other?: Counter): Counter
	isExempt(key: string): boolean
	inFront(counters: LimitCounters): OverrideCounters
}

interface OpenBan {
	readonly policy: string
	readonly terms: BanTerms
	readonly strikes: Counter
	readonly offences: Counter | undefined
	readonly running: readonly Counter[]
	readonly isSynchronous: boolean
	readonly latest: LatestBan | undefined
	readonly isSlotted: boolean
}

interface LatestBan {
	endsAt: number
}

type ChargedBackend = RequestBackend & Pick<Backend, 'observe'>

declare class PolicyLimiter implements Limiter {
	#private
	readonly policies: readonly Policy[]
	readonly bans: LimiterBans
	controlled: ControlledPolicies | undefined
	constructor(policies: readonly OpenPolicy[], clock: Clock | undefined, observers: Observers, failover?: FailoverRule)
	take(key: Keys, cost?: Costs, moment?: Moment): MaybePromise<Decision>
	takeEach(
		keys: readonly (string | undefined)[],
		costs: readonly number[],
		moment?: Moment,
		terms?: RequestTerms
	): MaybePromise<Decision>
	holdEach(
		keys: readonly (string | undefined)[],
		costs: readonly number[],
		moment?: Moment,
		terms?: RequestTerms
	): MaybePromise<LimiterHold>
	chargeOne(index: number, key: string, units: number, taken: Decision): MaybePromise<Answer>
	resetOne(index: number, key: string): MaybePromise<void>
	peekOne(index: number, key: string, cost: number): MaybePromise<Decision>
	control(controls: LimiterControls | undefined, owner: object): void
	peek(key: Keys, cost?: Costs, moment?: Moment): MaybePromise<Decision>
	charge(key: Keys, units: Costs, taken?: Decision | number): MaybePromise<Decision>
	hold(key: Keys, options: HoldOptions): MaybePromise<LimiterHold>
	reset(key: Keys): MaybePromise<void>
	replace(previous: PolicyLimiter): void
	ban(key: Keys, duration: Duration): MaybePromise<void>
	report(key: Keys, outcome: Outcome): MaybePromise<void>
	close(): void
}

declare class LimiterBans {
	#private
	constructor(all: readonly OpenBan[], open: readonly OpenPolicy[], backend: BanningBackend | undefined)
	follow(previous: LimiterBans): void
	ban(charges: () => readonly Charge[], duration: Duration): MaybePromise<void>
	banOne(index: number, key: string, duration: Duration): MaybePromise<void>
	struck(charge: Charge, decision: Decision, moment: Moment | undefined): MaybePromise<Decision>
	report(charges: () => readonly Charge[], outcome: Outcome): MaybePromise<void>
	reportOne(index: number, key: string, outcome: Outcome): MaybePromise<void>
	liftOne(index: number, key: string): MaybePromise<void>
}

declare class BanningBackend implements RequestBackend {
	#private
	readonly synchronous: boolean
	constructor(inner: RequestBackend, bans: readonly OpenBan[], clock: Clock, observers: Observers)
	takeAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer>
	struck(charges: readonly Charge[], answer: Answer, moment: Moment | undefined): MaybePromise<Answer>
	follow(previous: BanningBackend): void
	peekAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer>
	adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer>
	resetAll(keys: readonly CountedKey[]): MaybePromise<void>
	lift(keys: readonly CountedKey[]): MaybePromise<void>
	ban(keys: readonly CountedKey[], ms: number): MaybePromise<void>
	report(keys: readonly CountedKey[], outcome: 'success' | 'failure'): MaybePromise<void>
}

declare class ControlledPolicies {
	#private
	constructor(open: readonly OpenPolicy[], all: readonly LimiterControls[])
	isOff({ name }: Pick<Policy, 'name'>): boolean
	isEnforced({ name }: Pick<Policy, 'name'>, configured: Mode): boolean
	blocked(charges: readonly Charge[]): Answer | undefined
	applyTo(charges: readonly Charge[]): readonly Charge[]
	withLimit(charge: Charge): Charge
}

declare class LimiterWarnings {
	#private
	constructor(names: () => readonly string[])
	once(code: SluiceCode, message: () => string, about?: string): void
}

declare function isRequest(options: object): boolean

declare function optionalBoolean(option: string, value: unknown): boolean

declare const POLICY_ONLY: readonly [
	'name',
	'limit',
	'window',
	'algorithm',
	'burst',
	'slices',
	'calendar',
	'overrides',
	'ban',
	'unit',
	'maxHoldMs',
	'retry'
]
declare const DEFAULT_NAMES: {
	readonly rateLimit: 'default'
	readonly slowDown: 'slow-down'
	readonly inflightLimit: 'inflight'
	readonly limitConnections: 'connections'
	readonly shed: 'shed'
}

declare function modeOf(outer: Mode | undefined, inner?: Mode): Mode

declare function parseMode(value: unknown, option: string): Mode

declare function headerText(value: unknown, option: string): string

declare const LARGEST_HEADER_INTEGER = 999999999999999

declare function inThisContext<Arg>(run: (arg: Arg) => void): (arg: Arg) => void
interface CollapsedClients {
	readonly address: string
	readonly reason: string
	readonly advice: string
	readonly trust?: string | undefined
}

declare function collapsedClients(): CollapsedClients | undefined

declare function recordCollapsedClients(found: CollapsedClients | undefined): void
export {
	type Backend,
	type CapControls,
	type CapHandle,
	type AdaptiveLimit,
	type LearnedLimits,
	type Cap,
	type AcquireOptions,
	type InflightBackend,
	type KeyShare,
	type SharedKey,
	type ShareReport,
	type SharedState,
	type PermitOutcome,
	type Permit,
	type Denial,
	type Charge,
	type Clock,
	type TimerOptions,
	type CountEstimate,
	type DecisionOf,
	type Counter,
	type CountedKey,
	type AnswerOrigin,
	type Answer,
	type BanTerms,
	type Algorithm,
	type CompiledPolicy,
	type PolicyBookings,
	type PolicyHolds,
	type PolicyVariant,
	type Decision,
	type Held,
	type HoldChange,
	type Policy,
	type PolicyCalendar,
	type AlgorithmName,
	type Verdict,
	type PolicyVerdict,
	type Fund,
	type BackendVerdict,
	type DenialReason,
	type HeldUnits,
	type Interruption,
	type LimitOverrides,
	type PrepareLimits,
	type LimiterControls,
	type PolicyControl,
	type MaybePromise,
	isPromise,
	andThen,
	allOf,
	type MetricSource,
	type Metric,
	type ValueMetric,
	type BucketMetric,
	type ValueSample,
	type BucketSample,
	type MetricBucket,
	type MetricLabels,
	type Moment,
	type IdempotencyKey,
	type ObservedLimiter,
	type ObservedPolicy,
	type ObserverEvent,
	type ObservedRequest,
	type ObservedCap,
	type Observer,
	type PriorUsage,
	type AdmittedUnits,
	type Priority,
	type RequestHook,
	type RequestView,
	type Channel,
	type PublishOptions,
	type RecordStore,
	type Script,
	type ScriptRunner,
	type SqlRunner,
	ChargeVerdict,
	hasDenial,
	RequestDecision,
	badOption,
	messageOf,
	type SluiceCode,
	SluiceError,
	kindOf,
	shown,
	warn,
	warnOnce,
	compileFailover,
	type FailoverOptions,
	type FailoverRule,
	Deadlines,
	type HeaderLine,
	type HttpDenial,
	FULL,
	WEIGHT_EXCEEDS_LIMIT,
	type AddressRules,
	type AddressRange,
	clientKey,
	joinedKey,
	type AddressDoubt,
	ANONYMOUS,
	DENY,
	EXEMPT,
	type KeySource,
	type ReportFallback,
	byIp,
	type Outcome,
	Observers,
	type OptionPlaces,
	integerFrom,
	oneOf,
	optionalFunction,
	optionsOf,
	type BanInput,
	type Mode,
	checkedUnits,
	type PolicyInput,
	processWideMap,
	afterThisTurn,
	clockOf,
	isSystemClock,
	KEEP_ALIVE,
	systemClock,
	type Duration,
	parseDuration,
	parseMs,
	parseTimerMs
} from './types.js'
export {
	LARGEST_LOG,
	banCallsEnded,
	hasTaken,
	binds,
	badValue,
	DRAFT,
	type ListDialect,
	ROUNDING_ERROR_MS,
	stringItem,
	wholeSeconds,
	DRAFT_HEADERS,
	type FieldDialect,
	type HeaderEntry,
	type HeaderPlan,
	headerLines,
	httpDenial,
	policyItems,
	rateEntry,
	soleEntry,
	type Vendor,
	violatedPolicies,
	PROBLEM_MEDIA_TYPE,
	problemBody,
	retryAfterMs,
	BackedInflightLimiter,
	isAdaptive,
	MemoryInflight,
	WatchedPermit,
	type Address,
	parseAddress,
	withoutPort,
	writeIPv6,
	addressKey,
	addressRules,
	isWithin,
	MAPPED_IPV4,
	rangeOf,
	NO_ADDRESS,
	type ResolvedKey,
	reportNothing,
	resolveKey,
	isPreflight,
	preflightKey,
	isHeaderName,
	labelOf,
	type RequestTerms,
	wholeCost,
	type LimiterHold,
	KeyTerms,
	backendOf,
	type LimiterIdentity,
	type OpenOptions,
	openPolicies,
	type OpenPolicy,
	PolicyLimiter,
	LimiterWarnings,
	isRequest,
	optionalBoolean,
	POLICY_ONLY,
	DEFAULT_NAMES,
	modeOf,
	parseMode,
	headerText,
	LARGEST_HEADER_INTEGER,
	inThisContext,
	type CollapsedClients,
	collapsedClients,
	recordCollapsedClients
}

// index.d.ts
import {
	Backend,
	MaybePromise,
	Answer,
	Decision,
	Clock,
	Permit,
	LimitOverrides,
	PolicyInput,
	Duration,
	Environment,
	FailoverOptions,
	InflightLimiterOptions,
	InflightLimiter,
	KeyResult,
	KeySource,
	LabelledKeySource,
	Keys,
	Costs,
	CommonOptions,
	Limiter,
	MemoryBackendOptions
} from './types.js'

declare function policyFromEnv<Options extends PolicyInput>(
	prefix: string,
	defaults: Options,
	environment?: Environment
): Options & PolicyInput

type ProblemType = keyof typeof PROBLEM_TITLES
declare const PROBLEM_TITLES: {
	readonly 'quota-exceeded': 'Quota Exceeded'
	readonly 'temporary-reduced-capacity': 'Temporary Reduced Capacity'
}

declare function createInflightLimiter(options: LocalInflightOptions): LocalInflightLimiter

declare function createInflightLimiter(options: InflightLimiterOptions): InflightLimiter

interface LocalInflightOptions extends InflightLimiterOptions {
	readonly backend?: undefined
}

interface LocalInflightLimiter extends InflightLimiter<Permit | undefined> {
	count(key?: string): number
}

interface ByHeaderOptions {
	readonly missing?: 'address' | 'deny' | 'exempt' | undefined
}

declare function byAll<Raw = unknown>(...sources: readonly KeySource<Raw>[]): JoinedKeySource<Raw>

interface JoinedKeySource<Raw = unknown> extends LabelledKeySource<Raw> {
	keyOf(...values: readonly (string | number | bigint)[]): string
}

declare function byHeader<Raw = unknown>(name: string, options?: ByHeaderOptions): LabelledKeySource<Raw>

declare function byPrincipal<Raw>(principal: (request: Raw) => MaybePromise<KeyResult | null>): LabelledKeySource<Raw>

declare function byRoute<Raw = unknown>(): LabelledKeySource<Raw>

declare function createLimiter(options: SyncLimiterOptions | SyncOnePolicyLimiterOptions): Limiter<Decision>

declare function createLimiter(options: LimiterOptions | OnePolicyLimiterOptions): Limiter

interface SyncLimiterOptions extends LimiterOptions {
	readonly policies: readonly (PolicyInput & {
		readonly backend?: Backend<Answer>
	})[]
	readonly backend?: Backend<Answer> | undefined
}

interface LimiterOptions extends CommonOptions, FailoverOptions {
	readonly policies: readonly PolicyInput[]
}

interface SyncOnePolicyLimiterOptions extends OnePolicyLimiterOptions {
	readonly backend?: Backend<Answer> | undefined
}

interface OnePolicyLimiterOptions extends CommonOptions, FailoverOptions, Omit<PolicyInput, 'backend' | 'mode'> {
	readonly policies?: undefined
}

interface WaitOptions {
	readonly cost?: Costs | undefined
	readonly maxWaitMs: Duration
	readonly signal?: AbortSignal | undefined
	readonly clock?: Clock | undefined
}

declare function waitFor(limiter: Waited, key: Keys, options: WaitOptions): Promise<Decision>

type Waited = Pick<Limiter<MaybePromise<Decision>>, 'take'> & Partial<Pick<Limiter, 'peek' | 'policies'>>

declare function memoryBackend(options?: MemoryBackendOptions): Backend<Answer>

type LimitsByKey = Readonly<Record<string, number>>

interface FixedOverridesOptions extends OverriddenKeys {
	readonly limits: LimitsByKey
}

interface OverriddenKeys {
	readonly hierarchical?: boolean | undefined
	readonly others?: LimitOverrides['others'] | undefined
}

type LimitOverridesOptions = FixedOverridesOptions | LoadedOverridesOptions

interface LoadedOverridesOptions extends OverriddenKeys {
	readonly load: () => MaybePromise<LimitsByKey | undefined>
	readonly refreshMs?: Duration | undefined
	readonly clock?: Clock | undefined
}

declare function limitOverrides(options: LimitOverridesOptions): LimitOverrides
export {
	type Backend,
	type CapControls,
	type CapHandle,
	type AdaptiveLimit,
	type LearnedLimits,
	type Cap,
	type AcquireOptions,
	type InflightBackend,
	type KeyShare,
	type SharedKey,
	type ShareReport,
	type SharedState,
	type PermitOutcome,
	type Permit,
	type Denial,
	type Charge,
	type Clock,
	type TimerOptions,
	type CountEstimate,
	type DecisionOf,
	type Counter,
	type CountedKey,
	type AnswerOrigin,
	type Answer,
	type BanTerms,
	type Algorithm,
	type CompiledPolicy,
	type PolicyBookings,
	type PolicyHolds,
	type PolicyVariant,
	type Decision,
	type Held,
	type HoldChange,
	type Policy,
	type PolicyCalendar,
	type AlgorithmName,
	type Verdict,
	type PolicyVerdict,
	type Fund,
	type BackendVerdict,
	type DenialReason,
	type HeldUnits,
	type Interruption,
	type LimitOverrides,
	type PrepareLimits,
	type LimiterControls,
	type PolicyControl,
	type MaybePromise,
	type isPromise,
	type andThen,
	type allOf,
	type MetricSource,
	type Metric,
	type ValueMetric,
	type BucketMetric,
	type ValueSample,
	type BucketSample,
	type MetricBucket,
	type MetricLabels,
	type Moment,
	type IdempotencyKey,
	type ObservedLimiter,
	type ObservedPolicy,
	type ObserverEvent,
	type ObservedRequest,
	type ObservedCap,
	type Observer,
	type PriorUsage,
	type AdmittedUnits,
	type Priority,
	type RequestHook,
	type RequestView,
	type Channel,
	type PublishOptions,
	type RecordStore,
	type Script,
	type ScriptRunner,
	type SqlRunner,
	type SluiceCode,
	SluiceError,
	type BackendErrorRule,
	type FailoverOptions,
	type HeaderLine,
	type HttpDenial,
	type InflightLimiter,
	type InflightLimiterOptions,
	type AddressRules,
	clientKey,
	DENY,
	EXEMPT,
	type KeyFallback,
	type KeyResult,
	type KeySign,
	type KeySource,
	type ByIpOptions,
	byIp,
	type LabelledKeySource,
	type Keys,
	type Costs,
	type Hold,
	type HoldOf,
	type HoldOptions,
	type Limiter,
	type Outcome,
	type MemoryBackendOptions,
	type BanInput,
	type Mode,
	type PolicyInput,
	type Duration
} from './types.js'
export {
	policyFromEnv,
	type ProblemType,
	createInflightLimiter,
	type LocalInflightLimiter,
	type LocalInflightOptions,
	type ByHeaderOptions,
	byAll,
	byHeader,
	byPrincipal,
	byRoute,
	type JoinedKeySource,
	createLimiter,
	type LimiterOptions,
	type OnePolicyLimiterOptions,
	type SyncLimiterOptions,
	type SyncOnePolicyLimiterOptions,
	type WaitOptions,
	waitFor,
	memoryBackend,
	type LimitsByKey,
	type FixedOverridesOptions,
	type LimitOverridesOptions,
	type LoadedOverridesOptions,
	limitOverrides
}

// keyed-hash/index.d.ts
declare class BadSeedError extends Error {
	readonly code: typeof CODE
	constructor(received: string)
}
declare const CODE = 'SLUICE_BAD_SEED'
interface KeyedHash {
	low: number
	high: number
	text(key: string): void
	bytes(key: Uint8Array): void
	integer(key: number): void
}
declare function withErrorLink(code: string, message: string): string
declare function hmacSha256(secret: string, text: string): Uint8Array

declare function scatterBits(x: number): number

declare function createKeyedHash(seed?: Uint8Array): KeyedHash
export { BadSeedError, type KeyedHash, withErrorLink, hmacSha256, scatterBits, createKeyedHash }

// types.d.ts
interface Backend<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
	readonly name: string
	readonly identity?: object | undefined
	readonly synchronous?: boolean
	readonly perProcess?: boolean
	readonly algorithms?: readonly AlgorithmName[] | undefined
	readonly keepsCalendars?: boolean | undefined
	readonly keepsHolds?: boolean | undefined
	readonly booksTurns?: boolean | undefined
	readonly maxCounts?: number | undefined
	open(compiled: CompiledPolicy, name: string, isOverride?: boolean): Counter<A>
	takeAll(charges: readonly Charge[], moment?: Moment): A
	peekAll(charges: readonly Charge[], moment?: Moment): A
	adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): A
	resetAll(keys: readonly CountedKey[]): MaybePromise<void>
	observe?(observer: Observer): () => void
	takeHeld?(charges: readonly Charge[], moment?: Moment): Answer | undefined
	interrupted?(listener: (event: Interruption) => void): () => void
	mayHaveLost?(counted: CountedKey, ageMs: number): boolean
	mayCountUnanswered?(counted: CountedKey): boolean
	passed?(charges: readonly Charge[], takenAt: number): void
	heldOf?(counted: CountedKey): readonly HeldUnits[]
	estimateOf?(counted: CountedKey): CountEstimate | undefined
	close?(): MaybePromise<void>
}
type MaybePromise<T> = T | Promise<T>

interface Answer extends AnswerOrigin {
	readonly verdicts: readonly BackendVerdict[]
}

interface AnswerOrigin {
	readonly takenAt: number
	readonly takenAts?: readonly number[] | undefined
	readonly counted: boolean
	readonly countedEach?: readonly boolean[] | undefined
	readonly source: string
}

interface BackendVerdict extends Omit<PolicyVerdict, 'availableAfterMs'> {
	readonly availableAfterMs?: number
	readonly spent?: number
	readonly held?: number
}

interface PolicyVerdict extends Verdict {
	readonly policy: Policy
	readonly shadow: boolean
	readonly fund?: Fund
}

interface Verdict {
	readonly allowed: boolean
	readonly remaining: number
	readonly retryAfterMs: number
	readonly resetAfterMs: number
	readonly availableAfterMs: number
}
interface Policy {
	readonly name: string
	readonly algorithm: AlgorithmName
	readonly limit: number
	readonly windowMs: number
	readonly burst?: number
	readonly slices?: number
	readonly unit?: string
	readonly maxHoldMs?: number
	readonly retry?: 'booked'
	readonly calendar?: PolicyCalendar
}

type AlgorithmName = 'fixed-window' | 'sliding-window' | 'sliding-log' | 'token-bucket' | 'gcra'

interface PolicyCalendar {
	readonly per: 'day' | 'week' | 'month'
	readonly timeZone: string
	readonly zoneOf?: (key: string) => string | undefined
	readonly resetAt?: string
	readonly anchor?: number
	readonly carryOver?: number
}

type Fund = 'included' | 'top-up'

interface CompiledPolicy {
	readonly policy: Policy
	readonly cells: number
	readonly instants?: readonly number[] | undefined
	readonly room?: number
	readonly capacity: number
	waitMs(cells: Float64Array, at: number, now: number, cost: number): number
	take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void
	numbers(cells: Float64Array, at: number, now: number, cost: number, waitMs: number, numbers: Float64Array): void
	spend(cells: Float64Array, at: number, now: number, cost: number): void
	adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
	remaining(cells: Float64Array, at: number, now: number): number
	resetAfterMs(cells: Float64Array, at: number, now: number): number
	adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
	readonly variants?: readonly PolicyVariant[] | undefined
	keptMs(cells: Float64Array, at: number, now: number): number
	readonly holds?: PolicyHolds | undefined
	readonly bookings?: PolicyBookings | undefined
}

interface PolicyVariant {
	readonly compiled: CompiledPolicy
	readonly at: number
	readonly role: 'own' | 'larger' | 'charged'
	readonly perMs: number
	readonly ceiling: number
}

interface PolicyHolds {
	readonly inner: CompiledPolicy
	readonly sliceMs: number
	endsAt(now: number, forMs: number): number
	heldOf(cells: Float64Array, at: number, now: number, units: number, endsAt: number): number
	hold(cells: Float64Array, at: number, now: number, units: number, endsAt: number): void
	release(cells: Float64Array, at: number, now: number, units: number, endsAt: number): number
}

interface PolicyBookings {
	readonly inner: CompiledPolicy
	readonly paceMs: number
	readonly most: number
	readonly longestMs: number
	readonly isWeighted: boolean
	book(cells: Float64Array, at: number, now: number, cost: number): boolean
	pass(cells: Float64Array, at: number, now: number, cost: number): void
	untilNextMs(cells: Float64Array, at: number, now: number): number
}

interface Counter<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
	readonly compiled: CompiledPolicy
	readonly name: string
	take(key: string, cost: number, moment?: Moment): DecisionOf<A>
	takeAdvisory?(key: string, cost: number, moment?: Moment): DecisionOf<A>
	close?(): void
}

interface Moment {
	readonly now?: number
	readonly deadlineAt?: number
	readonly uncounted?: boolean
	readonly idempotencyKey?: IdempotencyKey
	readonly request?: ObservedRequest
}

interface IdempotencyKey {
	readonly id: string
	readonly issuedAt: number
}

interface ObservedRequest {
	readonly route: string | undefined
	readonly method: string
	readonly request: unknown
	readonly view?: RequestView | undefined
}
interface RequestView<Raw = unknown> {
	readonly ip: string | undefined
	readonly peer?: string | undefined
	readonly method: string
	readonly route: string | undefined
	readonly knowsRoutes?: boolean | undefined
	readonly routeMethod?: string | undefined
	header(name: string): string | undefined
	readonly raw: Raw
	readonly outgoing?: unknown
}

type DecisionOf<A extends MaybePromise<Answer>> =
	A extends Promise<unknown> ? Promise<Decision> : A extends Answer ? Decision : MaybePromise<Decision>

interface Decision extends AnswerOrigin {
	readonly allowed: boolean
	readonly verdicts: readonly PolicyVerdict[]
	readonly binding: PolicyVerdict
	readonly retryAfterMs: number
}

interface Charge<C extends Counter = Counter> extends CountedKey<C> {
	readonly cost: number
	readonly advisory?: boolean
	readonly known?: PriorUsage | undefined
	readonly hold?: HoldChange | undefined
}

interface CountedKey<C extends Counter = Counter> {
	readonly key: string
	readonly counter: C
}
interface PriorUsage {
	readonly used: number
	readonly held?: number | undefined
	readonly resetAfterMs: number
	readonly ageMs?: number | undefined
	readonly replyAgeMs?: number | undefined
	readonly admitted?: AdmittedUnits | undefined
}

interface AdmittedUnits {
	readonly uncounted: number
	readonly unsure: number
	readonly upTo: number
	readonly ageMs: number
}

interface HoldChange {
	readonly from?: Held | undefined
	readonly forMs: number
}
interface Held {
	readonly units: number
	readonly endsAt: number
}

interface Observer {
	decided?(key: string, decision: Decision, request?: ObservedRequest): void
	charged?(key: string, units: number, policy: Policy): void
	permitAcquired?(key: string, cap: ObservedCap): void
	permitReleased?(key: string, heldMs: number, cap: ObservedCap): void
	capDenied?(key: string, cap: ObservedCap): void
	capLeft?(key: string, cap: ObservedCap): void
	backendAnswered?(backend: string, tookMs: number): void
	largestLimit?(policy: string): number | undefined
	limiterOpened?(limiter: ObservedLimiter): void
	limiterClosed?(limiter: ObservedLimiter): void
	capOpened?(cap: CapHandle): void
	capClosed?(cap: CapHandle): void
	event?(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void
}

interface ObservedCap {
	readonly name: string
	readonly limit: number
	readonly request?: ObservedRequest | undefined
	readonly priority?: Priority | undefined
	readonly reason?: DenialReason | undefined
}
type Priority = 'critical' | 'high' | 'normal' | 'low' | 'sheddable'
type DenialReason = 'full' | 'priority' | 'queue-full' | 'timeout' | 'blocked' | 'weight'

interface ObservedLimiter {
	readonly policies: readonly ObservedPolicy[]
	peek(index: number, key: string, cost: number): MaybePromise<Decision>
	reset(index: number, key: string): MaybePromise<void>
	lift(index: number, key: string): MaybePromise<void>
	control(controls: LimiterControls | undefined, owner?: object): void
}

interface ObservedPolicy {
	readonly policy: Policy
	readonly mode: 'enforce' | 'shadow'
	readonly countName: string
	readonly backend: string
	readonly identity: object
	readonly perProcess: boolean
	readonly ban: BanTerms | undefined
	overrideOf(key: string): number | undefined
	isExempt(key: string): boolean
	heldUnitsOf(key: string): readonly HeldUnits[]
	estimateOf(key: string): CountEstimate | undefined
}
interface BanTerms {
	readonly after: number
	readonly withinMs: number
	readonly forMs: number
	readonly growth: number
	readonly maxMs: number
	readonly forgetMs: number
	readonly strikes: 'denials' | 'failures' | readonly number[]
	readonly forgives: boolean
	readonly extends: boolean
}
interface HeldUnits {
	readonly kind: 'lease'
	readonly units: number
	readonly endsAfterMs: number
}
interface CountEstimate {
	readonly unreported: number
	readonly othersAgeMs: number | undefined
}
interface LimiterControls {
	readonly policies: ReadonlyMap<string, PolicyControl>
	blockedMs(key: string, policy: string): number
}

interface PolicyControl {
	readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
	readonly limit?: number | undefined
}

interface CapHandle {
	readonly name: string
	readonly limit: number
	readonly isLocal: boolean
	readonly objective?: readonly [quantile: number, ms: number] | undefined
	waiting(): number
	control(controls: CapControls | undefined, owner?: object): void
}
interface CapControls {
	readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
	readonly limit?: number | undefined
	blockedMs(key: string): number
}

type ObserverEvent =
	| 'evicted'
	| 'tail'
	| 'keyFallback'
	| 'lateCharge'
	| 'hookFailed'
	| 'backendFailed'
	| 'breaker'
	| 'sync'
	| 'slowed'
	| 'shed'
	| 'saturated'
	| 'quota'
	| 'policies'
	| 'ban'
type Interruption = 'lost' | 'back'

interface AdaptiveLimit {
	readonly min: number
	readonly max: number
	readonly initial: number
	readonly objective?: readonly [quantile: number, ms: number] | undefined
	open(clock: Clock, maxHoldMs?: number, share?: (key: string, shared: SharedKey) => KeyShare): LearnedLimits
}
interface Clock {
	now(): number
	wall(): number
	after(ms: number, run: () => void, options?: TimerOptions): () => void
}

interface TimerOptions {
	readonly keepAlive?: boolean | undefined
}

interface SharedKey {
	readonly initial: number
	readonly least: number
	report(version: number, processes: number): ShareReport
	received(state: SharedState): number | undefined
}

interface ShareReport {
	readonly held: number
	readonly long: number
	readonly wanted: number
	readonly samples: string
}

interface SharedState {
	readonly limit: number
	readonly version: number
	readonly isSettled: boolean
	readonly reserved: number
	readonly samples: readonly string[] | undefined
}
interface KeyShare {
	readonly places: number
	opening(): Promise<void> | undefined
	lacked(): void
	leave(): void
}

interface LearnedLimits {
	limitOf(key: string, request?: AcquireOptions): number
	usualMsOf?(key: string): number
	isApart?(key: string, request: AcquireOptions | undefined): boolean
	begin(key: string, request: AcquireOptions | undefined): (outcome: PermitOutcome) => void
	readonly isShared?: boolean | undefined
	opening?(key: string): Promise<void> | undefined
	lacked?(key: string, places: number): void
	close?(): void
}

interface AcquireOptions {
	readonly weight?: number | undefined
	readonly signal?: AbortSignal | undefined
	readonly priority?: Priority | undefined
	readonly client?: string | undefined
	readonly workClass?: string | undefined
	readonly isApart?: boolean | undefined
	readonly mayWait?: boolean | undefined
	readonly cap?: Cap | undefined
	readonly request?: ObservedRequest | undefined
}

interface Cap {
	readonly name: string
	readonly place?: string | undefined
	readonly limit: number
	readonly limitOf?: ((key: string) => number) | undefined
	readonly maxWeight?: number | undefined
	readonly maxHoldMs?: number | undefined
}

type PermitOutcome = 'success' | 'dropped'

interface InflightBackend {
	readonly identity?: object | undefined
	readonly limit?: number | undefined
	readonly isLocal?: boolean | undefined
	acquire(key: string, options?: AcquireOptions): MaybePromise<Permit | Denial>
	count?(key: string, cap?: Cap): MaybePromise<number>
	waiting?(cap?: Cap): number
	admitWaiting?(cap: Cap, key?: string): void
	share?(key: string, cap: Cap, shared: SharedKey, grown: () => void): KeyShare
	close?(): MaybePromise<void>
}

interface Permit extends Disposable {
	readonly lost: AbortSignal
	release(outcome?: PermitOutcome): void
}

interface Denial {
	readonly allowed: false
	readonly retryAfterMs: number
	readonly reason?: DenialReason | undefined
}

interface Algorithm {
	readonly name: AlgorithmName
	readonly version: number
	compile(policy: Policy, largestLimit?: number, chargedBeside?: boolean): CompiledPolicy
}

interface LimitOverrides extends MetricSource {
	readonly others: 'policy' | 'exempt'
	readonly largestLimit: number
	limitOf(key: string): number | undefined
	register(prepare: PrepareLimits): () => void
	close(): void
}
interface MetricSource {
	metrics(): Iterable<Metric>
}

type Metric = ValueMetric | BucketMetric

interface ValueMetric extends MetricHead {
	readonly type: 'counter' | 'gauge'
	readonly samples: readonly ValueSample[]
}

interface MetricHead {
	readonly name: string
	readonly help: string
}

interface ValueSample {
	readonly labels: MetricLabels
	readonly value: number
}

type MetricLabels = Readonly<Record<string, string>>

interface BucketMetric extends MetricHead {
	readonly type: 'histogram'
	readonly samples: readonly BucketSample[]
}

interface BucketSample {
	readonly labels: MetricLabels
	readonly buckets: readonly MetricBucket[]
	readonly sum: number
	readonly count: number
}

interface MetricBucket {
	readonly upperBound: number
	readonly count: number
}

type PrepareLimits = (limits: ReadonlySet<number>) => void

declare function isPromise<T>(value: MaybePromise<T>): value is Promise<T>

declare function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U>

declare function allOf<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]>

type RequestHook<Args extends readonly unknown[], Answer> = {
	hook(...args: Args): MaybePromise<Answer>
}['hook']

interface Channel {
	publish(topic: string, bytes: Uint8Array, options?: PublishOptions): MaybePromise<void>
	subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void
	close(): MaybePromise<void>
}

interface PublishOptions {
	readonly urgent?: boolean | undefined
}
interface RecordStore {
	put(id: string, text: string, endsAt: number): Promise<void>
	all(): Promise<readonly string[]>
}

interface Script {
	readonly name: string
	readonly text: string
}

interface ScriptRunner {
	run(
		script: Script,
		keys: readonly string[],
		args: readonly (string | number)[],
		options?: {
			readonly deadlineAt: number
		}
	): Promise<unknown>
	sendCommands?(commands: readonly (readonly string[])[]): Promise<readonly unknown[]> | undefined
	readonly clustered?: boolean
	readonly perTask?: boolean
	serverOf?(key: string): string
	interrupted?(listener: (event: Interruption, server?: string) => void): () => void
}
interface SqlRunner {
	query(
		text: string,
		values?: unknown[]
	): Promise<{
		readonly rows: readonly unknown[]
	}>
}

interface PolicyInput {
	readonly name?: string | undefined
	readonly limit: number
	readonly window: Duration
	readonly algorithm?: AlgorithmName | undefined
	readonly burst?: number | undefined
	readonly slices?: number | undefined
	readonly calendar?: PolicyCalendar | undefined
	readonly overrides?: LimitOverrides | undefined
	readonly ban?: BanInput | undefined
	readonly unit?: string | undefined
	readonly maxHoldMs?: Duration | undefined
	readonly retry?: 'booked' | undefined
	readonly mode?: Mode | undefined
	readonly backend?: Backend | undefined
}

type Duration = `${number}${DurationUnit}` | number
type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w'

interface BanInput {
	readonly after: number
	readonly within: Duration
	readonly for: Duration
	readonly growth?: number | undefined
	readonly max?: Duration | undefined
	readonly forget?: Duration | undefined
	readonly strikes?: 'denials' | 'failures' | readonly number[] | undefined
	readonly forgiveOn?: 'success' | undefined
	readonly extend?: boolean | undefined
}
type Mode = 'enforce' | 'shadow' | 'off'

type Environment = Readonly<Record<string, string | undefined>>
type SluiceCode =
	| 'SLUICE_BAD_OPTION'
	| 'SLUICE_BAD_DURATION'
	| 'SLUICE_BAD_LIMIT'
	| 'SLUICE_BAD_NAME'
	| 'SLUICE_BAD_POLICY'
	| 'SLUICE_BAD_POLICY_FILE'
	| 'SLUICE_BAD_DESCRIPTION'
	| 'SLUICE_POLICIES_UNREADABLE'
	| 'SLUICE_BAD_COST'
	| 'SLUICE_BAD_KEY'
	| 'SLUICE_DUPLICATE_POLICY'
	| 'SLUICE_UNNAMED_LIMITER'
	| 'SLUICE_SHARED_COUNT'
	| 'SLUICE_UNKNOWN_POLICY'
	| 'SLUICE_UNKNOWN_PLAN'
	| 'SLUICE_HOOK_FAILED'
	| 'SLUICE_KEY_FALLBACK'
	| 'SLUICE_NO_ADDRESS'
	| 'SLUICE_BAD_ADDRESS'
	| 'SLUICE_FULL_ADDRESS_KEY'
	| 'SLUICE_FORWARDED_IGNORED'
	| 'SLUICE_UNTRUSTED_PROXY'
	| 'SLUICE_TRUSTS_ALL_PROXIES'
	| 'SLUICE_TRUSTS_NO_PROXY'
	| 'SLUICE_CLIENTS_COLLAPSED'
	| 'SLUICE_PROXY_NAMES_NO_CLIENT'
	| 'SLUICE_OLD_PROXY_RANGES'
	| 'SLUICE_LIMITER_IN_HANDLER'
	| 'SLUICE_LIMITER_TWICE'
	| 'SLUICE_RESPONSE_STARTED'
	| 'SLUICE_BACKEND_FAILED'
	| 'SLUICE_BACKEND_RECOVERED'
	| 'SLUICE_MEMORY_IN_CLUSTER'
	| 'SLUICE_OVERRIDES_STALE'
	| 'SLUICE_POLICIES_STALE'
	| 'SLUICE_BAD_LIST'
	| 'SLUICE_NO_ROUTE'
	| 'SLUICE_REDIS_EVICTION'
	| 'SLUICE_CLUSTER_RUNNER'
	| 'SLUICE_OBSERVER_DROPPED'
	| 'SLUICE_DENIED'
	| 'SLUICE_THROTTLED'
	| 'SLUICE_SECRET_MISSING'
	| 'SLUICE_BAD_MESSAGE'
	| 'SLUICE_SKETCH_UNREADABLE'
	| 'SLUICE_BAD_COUNTER_ID'
	| 'SLUICE_BAD_DELTA'
	| 'SLUICE_BAD_TOKEN'
	| 'SLUICE_TOKEN_REUSED'
	| 'SLUICE_COUNTER_RANGE'
	| 'SLUICE_COUNTERS_FULL'
	| 'SLUICE_COUNTERS_CLOSED'
	| 'SLUICE_COUNTER_TABLES'
	| 'SLUICE_COUNTERS_NOT_REPLICATED'
	| 'SLUICE_COUNTERS_UNAVAILABLE'
	| 'SLUICE_NO_RESERVATION'
	| 'SLUICE_UNKNOWN_TAKE'
	| 'SLUICE_BUDGET_EXHAUSTED'
	| 'SLUICE_FOLDER_IN_USE'
	| 'SLUICE_GOSSIP_FORGED'
	| 'SLUICE_GOSSIP_UNAVAILABLE'

declare class SluiceError extends Error {
	readonly code: SluiceCode
	constructor(code: SluiceCode, message: string, options?: ErrorOptions)
}

type BackendErrorRule =
	| 'local'
	| 'allow'
	| 'deny'
	| {
			readonly local: {
				readonly share: number
			}
	  }

interface FailoverOptions {
	readonly onBackendError?: BackendErrorRule | undefined
	readonly deadlineMs?: Duration | undefined
}

type HeaderLine = readonly [name: string, value: string]

interface HttpDenial {
	readonly status: number
	readonly retryAfterSeconds: number | undefined
	readonly retryAfterMs: number
	readonly violated: readonly string[]
	readonly contentType: string
	readonly body: string
}

interface InflightLimiterOptions {
	readonly name?: string | undefined
	readonly limit: number | AdaptiveLimit
	readonly maxHoldMs?: Duration | undefined
	readonly backend?: InflightBackend | undefined
	readonly shared?: boolean | undefined
	readonly clock?: Clock | undefined
	readonly observers?: readonly Observer[] | undefined
}

interface InflightLimiter<P extends MaybePromise<Permit | undefined> = MaybePromise<Permit | undefined>> {
	readonly name: string
	readonly limit: number
	limitOf(key?: string): number
	acquire(key?: string, options?: AcquireOptions): P
	count(key?: string): P extends Promise<unknown> ? Promise<number> : MaybePromise<number>
	close(): MaybePromise<void>
}

interface AddressRules {
	readonly masks: readonly number[]
	readonly suffix: string
	readonly embeddings: readonly Embedding[]
}

interface Embedding extends AddressRange {
	readonly octets: readonly number[]
}
interface AddressRange {
	readonly groups: readonly number[]
	readonly masks: readonly number[]
}

declare function clientKey(address: string | undefined, options?: AddressOptions): string

interface AddressOptions {
	readonly ipv6Prefix?: number | undefined
	readonly embeddedIPv4Prefixes?: readonly string[] | undefined
}

declare const DENY: KeySign<'sluice.deny'>

type KeySign<Name extends string> = symbol & {
	readonly description: Name
}

declare const EXEMPT: KeySign<'sluice.exempt'>

interface KeyFallback {
	readonly reason: 'undefined' | 'anonymous' | 'threw' | 'rejected' | 'not-a-string' | AddressDoubt
	readonly error?: unknown
}

type AddressDoubt = 'no-address' | 'unreadable-address' | 'forwarded-unread' | 'whole-ipv6' | 'no-route'

type KeyResult = string | number | bigint | undefined | typeof EXEMPT | typeof DENY | typeof ANONYMOUS

declare const ANONYMOUS: KeySign<'sluice.anonymous'>

type KeySource<Raw = unknown> = RequestHook<
	[request: Raw, view: RequestView<Raw>, report?: ReportFallback, rules?: AddressRules],
	KeyResult
> & {
	readonly label?: string
	readonly addressRules?: AddressRules
}

type ReportFallback = (fallback: KeyFallback) => void

type ByIpOptions = AddressOptions

interface LabelledKeySource<Raw = unknown> extends KeySource<Raw> {
	readonly label: string
}

declare function byIp<Raw = unknown>(options?: ByIpOptions): LabelledKeySource<Raw>

type Keys = string | Readonly<Record<string, string>>
type Costs = number | Readonly<Record<string, number>>

interface CommonOptions {
	readonly backend?: Backend | undefined
	readonly scope?: string | undefined
	readonly shared?: boolean | undefined
	readonly mode?: Mode | undefined
	readonly clock?: Clock | undefined
	readonly observers?: readonly Observer[] | undefined
}

interface Limiter<D extends MaybePromise<Decision> = MaybePromise<Decision>> {
	readonly policies: readonly Policy[]
	take(key: Keys, cost?: Costs, moment?: Moment): D
	peek(key: Keys, cost?: Costs, moment?: Moment): D
	charge(key: Keys, units: Costs, taken?: Decision | number): D
	hold(key: Keys, options: HoldOptions): HoldOf<D>
	reset(key: Keys): MaybePromise<void>
	ban(key: Keys, duration: Duration): MaybePromise<void>
	report(key: Keys, outcome: Outcome): MaybePromise<void>
	close(): MaybePromise<void>
}

interface HoldOptions {
	readonly reserve: Costs
	readonly maxMs?: Duration | undefined
}

type HoldOf<D extends MaybePromise<Decision>> = SameTiming<D, Hold<D>>

type SameTiming<D extends MaybePromise<Decision>, T> = [D] extends [Promise<unknown>]
	? Promise<T>
	: [D] extends [Decision]
		? T
		: MaybePromise<T>

interface Hold<D extends MaybePromise<Decision> = MaybePromise<Decision>> {
	readonly allowed: boolean
	readonly decision: Decision
	extend(units: Costs): SameTiming<D, boolean>
	settle(actual: Costs): D
	release(): D
}

type Outcome = 'success' | 'failure'

interface MemoryBackendOptions {
	readonly maxBytes?: number | undefined
	readonly clock?: Clock | undefined
}

type RequestBackend = Pick<Backend, 'synchronous' | 'takeAll' | 'peekAll' | 'adjustAll' | 'resetAll'>

declare class ChargeVerdict implements PolicyVerdict {
	readonly policy: Policy
	readonly shadow: boolean
	readonly allowed: boolean
	readonly remaining: number
	readonly retryAfterMs: number
	readonly resetAfterMs: number
	readonly availableAfterMs: number
	constructor(
		policy: Policy,
		shadow: boolean,
		remaining: number,
		retryAfterMs: number,
		resetAfterMs: number,
		availableAfterMs?: number
	)
}

declare function hasDenial(verdicts: readonly Pick<PolicyVerdict, 'allowed' | 'shadow'>[]): boolean

declare class RequestDecision implements Decision {
	readonly verdicts: readonly PolicyVerdict[]
	readonly takenAt: number
	readonly takenAts: readonly number[] | undefined
	readonly counted: boolean
	readonly countedEach: readonly boolean[] | undefined
	readonly source: string
	readonly allowed: boolean
	static of(answer: Answer): RequestDecision
	constructor(answer: Answer)
	get binding(): PolicyVerdict
	toJSON(): Decision
	get retryAfterMs(): number
}

declare function badOption(option: string, received: unknown, expected: string): SluiceError

declare function messageOf(error: unknown): string

declare function kindOf(value: unknown): string
declare function shown(value: unknown, option?: string): string

declare function warn(code: SluiceCode, message: string): void

declare function warnOnce(code: SluiceCode, message: string | (() => string), about?: string): void

declare function compileFailover({ onBackendError, deadlineMs }: FailoverOptions): FailoverRule

interface FailoverRule {
	readonly deadlineMs: number
	readonly source: 'local' | 'allow' | 'deny'
	readonly share: number
}

declare class Observers implements Required<Omit<Observer, 'largestLimit'>> {
	#private
	dropped: number
	any: boolean
	constructor(observers?: readonly Observer[], names?: () => readonly string[])
	add(observer: Observer): () => void
	clear(): void
	decided(key: string, decision: Decision, request?: ObservedRequest): void
	charged(key: string, units: number, policy: Policy): void
	permitAcquired(key: string, cap: ObservedCap): void
	permitReleased(key: string, heldMs: number, cap: ObservedCap): void
	capDenied(key: string, cap: ObservedCap): void
	capLeft(key: string, cap: ObservedCap): void
	backendAnswered(backend: string, tookMs: number): void
	limiterOpened(limiter: ObservedLimiter): void
	limiterClosed(limiter: ObservedLimiter): void
	capOpened(cap: CapHandle): void
	capClosed(cap: CapHandle): void
	event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void
}

declare class Deadlines {
	#private
	constructor(clock: Clock, ms: number, timer?: TimerOptions)
	get pending(): number
	race<T, R>(promise: Promise<T>, outcome: Outcome$1<T, R>, now?: number): Promise<R>
	inTime<T>(promise: Promise<T>): Promise<T>
	close(): void
}

interface Outcome$1<T, R> {
	answered(value: T): R
	failed(error: unknown): R
	late(): R
}

declare const FULL: Denial

declare const WEIGHT_EXCEEDS_LIMIT: Denial

declare class HeldPermit implements Permit {
	#private
	readonly key: string
	readonly weight: number
	readonly acquiredAt: number
	constructor(home: PermitOwner, key: string, weight: number, acquiredAt: number)
	get lost(): AbortSignal
	release(outcome?: PermitOutcome): void
	lose(): void
	[Symbol.dispose](): void
}

interface PermitOwner {
	released(permit: HeldPermit, outcome: PermitOutcome): void
}
declare function joinedKey(...parts: readonly (string | number)[]): string

declare function integerFrom(option: string, value: unknown, least: number, most?: number): number

declare function oneOf<T extends string>(option: string, value: unknown, choices: readonly T[]): T

declare function optionalFunction(option: string, value: unknown): void

declare function optionsOf<T extends object>(
	owner: string,
	options: T,
	known: readonly (keyof T & string)[],
	places?: OptionPlaces
): T
type OptionPlaces = Readonly<Record<string, readonly string[]>>

declare function checkedUnits(value: unknown, option: string): number

declare function processWideMap<Key extends WeakKey, Value>(key: symbol): () => WeakMap<Key, Value>

declare function afterThisTurn(run: () => void): void

declare function clockOf(clock: Partial<Clock> | undefined): Clock

declare function isSystemClock(clock: Clock): boolean

declare const KEEP_ALIVE: TimerOptions

declare const systemClock: Clock

declare function parseDuration(value: unknown, option: string): number

declare function parseMs(value: unknown, option: string, least?: number, most?: number): number

declare function parseTimerMs(value: unknown, option: string): number
export {
	Backend,
	MaybePromise,
	Answer,
	AnswerOrigin,
	BackendVerdict,
	PolicyVerdict,
	Verdict,
	Policy,
	AlgorithmName,
	PolicyCalendar,
	Fund,
	CompiledPolicy,
	PolicyVariant,
	PolicyHolds,
	PolicyBookings,
	Counter,
	Moment,
	IdempotencyKey,
	ObservedRequest,
	RequestView,
	DecisionOf,
	Decision,
	Charge,
	CountedKey,
	PriorUsage,
	AdmittedUnits,
	HoldChange,
	Held,
	Observer,
	ObservedCap,
	Priority,
	DenialReason,
	ObservedLimiter,
	ObservedPolicy,
	BanTerms,
	HeldUnits,
	CountEstimate,
	LimiterControls,
	PolicyControl,
	CapHandle,
	CapControls,
	ObserverEvent,
	Interruption,
	AdaptiveLimit,
	Clock,
	TimerOptions,
	SharedKey,
	ShareReport,
	SharedState,
	KeyShare,
	LearnedLimits,
	AcquireOptions,
	Cap,
	PermitOutcome,
	InflightBackend,
	Permit,
	Denial,
	Algorithm,
	LimitOverrides,
	MetricSource,
	Metric,
	ValueMetric,
	MetricHead,
	ValueSample,
	MetricLabels,
	BucketMetric,
	BucketSample,
	MetricBucket,
	PrepareLimits,
	isPromise,
	andThen,
	allOf,
	RequestHook,
	Channel,
	PublishOptions,
	RecordStore,
	Script,
	ScriptRunner,
	SqlRunner,
	PolicyInput,
	Duration,
	DurationUnit,
	BanInput,
	Mode,
	Environment,
	SluiceCode,
	SluiceError,
	BackendErrorRule,
	FailoverOptions,
	HeaderLine,
	HttpDenial,
	InflightLimiterOptions,
	InflightLimiter,
	AddressRules,
	Embedding,
	AddressRange,
	clientKey,
	AddressOptions,
	DENY,
	KeySign,
	EXEMPT,
	KeyFallback,
	AddressDoubt,
	KeyResult,
	ANONYMOUS,
	KeySource,
	ReportFallback,
	ByIpOptions,
	LabelledKeySource,
	byIp,
	Keys,
	Costs,
	CommonOptions,
	Limiter,
	HoldOptions,
	HoldOf,
	SameTiming,
	Hold,
	Outcome,
	MemoryBackendOptions,
	RequestBackend,
	ChargeVerdict,
	hasDenial,
	RequestDecision,
	badOption,
	messageOf,
	kindOf,
	shown,
	warn,
	warnOnce,
	compileFailover,
	FailoverRule,
	Observers,
	Deadlines,
	Outcome$1,
	FULL,
	WEIGHT_EXCEEDS_LIMIT,
	HeldPermit,
	PermitOwner,
	joinedKey,
	integerFrom,
	oneOf,
	optionalFunction,
	optionsOf,
	OptionPlaces,
	checkedUnits,
	processWideMap,
	afterThisTurn,
	clockOf,
	isSystemClock,
	KEEP_ALIVE,
	systemClock,
	parseDuration,
	parseMs,
	parseTimerMs
}
