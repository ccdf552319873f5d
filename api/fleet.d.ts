// backend.d.ts
import {
	Clock,
	Backend as Backend$1,
	CountedKey as CountedKey$1,
	PriorUsage,
	Charge as Charge$1,
	Answer as Answer$1,
	CompiledPolicy as CompiledPolicy$1,
	Counter as Counter$1,
	Moment as Moment$1,
	Observer as Observer$1,
	Observers,
	Interruption as Interruption$1,
	AlgorithmName as AlgorithmName$1,
	Decision
} from '@sluice/limiter-core/backend'
import { SentPolicy } from './types.js'
interface Counters {
	readonly down?: readonly string[] | undefined
	increment(id: string, delta?: number, options?: IncrementOptions): Promise<CounterReceipt>
	incrementMany(deltas: CounterDeltas, options?: IncrementOptions): Promise<BatchReceipt>
	read(id: string, options?: ReadOptions): Promise<CounterReading>
	readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]>
	aggregate(prefix: string, kind?: 'sum'): Promise<number>
	reset(id: string): Promise<void>
	delete(id: string): Promise<void>
	flush(): Promise<void>
	close(): Promise<void>
}

interface IncrementOptions {
	readonly token?: string | undefined
	readonly durable?: boolean | undefined
}

interface CounterReceipt {
	readonly value: number
	readonly durable: boolean
	readonly counted: boolean
}

type CounterDeltas = Readonly<Record<string, number>> | Iterable<readonly [id: string, delta: number]>

interface BatchReceipt {
	readonly values: ReadonlyMap<string, number>
	readonly durable: boolean
	readonly counted: boolean
}

interface ReadOptions {
	readonly maxAgeMs?: number | undefined
}

interface CounterReading {
	readonly id: string
	readonly value: number
	readonly version: number
	readonly updatedAt: number | undefined
}

interface ReadManyOptions {
	readonly after?: string | undefined
	readonly limit?: number | undefined
}
type RowVersion = string | number | bigint

interface Row {
	readonly cells: Uint8Array
	readonly version: RowVersion
}

interface Change {
	readonly key: string
	readonly cells: Uint8Array
	readonly version: RowVersion | undefined
}

interface RowWriteOptions {
	readonly ttlMs: number
}

interface RowStore {
	readonly maxRows?: number | undefined
	read(keys: readonly string[]): Promise<readonly (Row | undefined)[]>
	write(changes: readonly Change[], options: RowWriteOptions): Promise<boolean>
	now?(): Promise<number>
	keepRunning?(work: Promise<unknown>): void
}

declare function checkTopic(owner: string, name: unknown): void
declare function isTopic(name: unknown): name is string

declare function isWorker(): boolean

declare function keepRunning(waitUntil: WaitUntil | undefined, work: Promise<unknown>): void
type WaitUntil = (work: Promise<unknown>) => void

declare function runtimeWaitUntil(): WaitUntil | undefined
declare namespace imported {
	export {
		type Reader,
		MalformedMessage,
		checked,
		amount,
		count,
		string,
		object,
		text,
		arrayOf,
		oneOf,
		optional,
		firstOf,
		tuple,
		fields
	}
}
type Reader<T> = (value: unknown) => T

declare class MalformedMessage extends Error {
	constructor(expected: string, received: unknown)
}

declare function checked<T>(expected: string, isValid: (value: unknown) => boolean): Reader<T>

declare const amount: Reader<number>

declare const count: Reader<number>

declare const string: Reader<string>

declare const object: Reader<object>

declare function text(most: number): Reader<string>

declare function arrayOf(most: number): Reader<readonly unknown[]>

declare function oneOf<const T extends readonly unknown[]>(...values: T): Reader<T[number]>

declare function optional<T>(read: Reader<T>): Reader<T | undefined>

declare function firstOf<T>(most: number, read: Reader<T>): Reader<T[]>

declare function tuple<T extends readonly unknown[]>(
	...read: {
		readonly [K in keyof T]: Reader<T[K]>
	}
): Reader<T>

declare function fields<T extends object>(
	read: {
		readonly [K in keyof T]-?: Reader<T[K]>
	}
): Reader<T>
declare const PARTITIONS = 64

declare function partitionOf(key: string, partitions: number): number
declare function repetitions(names: readonly string[]): number[]

declare function compiledOf({ holdSliceMs, ...sent }: SentPolicy): CompiledPolicy$1

declare function sentPolicyOf({ policy, room, variants, holds }: CompiledPolicy$1): SentPolicy

declare function settledWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<void>

declare function checkMessage(bytes: unknown, most: number): asserts bytes is Uint8Array

declare class TopicReceivers {
	#private
	constructor(observers: Observers)
	get size(): number
	add(receive: Receive): () => void
	clear(): void
	deliver(bytes: Uint8Array): void
}

type Receive = (bytes: Uint8Array) => void
declare class TurnBatch<T> {
	#private
	constructor(send: (batch: TurnBatch<T>) => void)
	get size(): number
	add(item: T, when?: (send: () => void) => void): void
	schedule(when?: (send: () => void) => void): void
	readonly flush: () => void
	take(): readonly T[]
	remove(which: (item: T) => boolean): readonly T[]
}

declare function answeredBy<T>(work: Promise<T>, at: number, clock: Clock, late: () => Error): Promise<T>

declare function givenUpAt(requests: readonly Pick<TimedRequest, 'operation' | 'deadlineAt'>[], now: number): number
interface TimedRequest {
	readonly operation: string
	readonly deadlineAt: number | undefined
	readonly reject: (error: Error) => void
	retried: boolean
}

declare class EntryNames {
	#private
	readonly hashesAll: boolean
	constructor(secret: string | undefined, owner: string)
	nameOf({ key, counter }: CountedKey$1): string
	storedKey(key: string): string
}

declare function plainName(text: string): string

declare class RemoteBackend implements Backend$1<Promise<Answer$1>> {
	#private
	readonly name: string
	readonly identity: object
	constructor(deps: RemoteBackendDeps)
	open(compiled: CompiledPolicy$1, name: string): Counter$1<Promise<Answer$1>>
	takeAll(charges: readonly Charge$1[], moment?: Moment$1): Promise<Answer$1>
	peekAll(charges: readonly Charge$1[], moment?: Moment$1): Promise<Answer$1>
	adjustAll(charges: readonly Charge$1[], takenAt: number, moment?: Moment$1): Promise<Answer$1>
	resetAll(counted: readonly CountedKey$1[]): Promise<void>
	observe(observer: Observer$1): () => void
	interrupted(listener: (event: Interruption$1) => void): () => void
	mayHaveLost(counted: CountedKey$1, ageMs: number): boolean
	close(): void
}

interface RemoteBackendDeps {
	readonly name: string
	readonly identity: object
	readonly clock: Clock
	readonly observers: Observers
	readonly nameOf: (counted: CountedKey$1) => string
	readonly groupOf?: ((counted: CountedKey$1) => number) | undefined
	readonly needsIds?: boolean | undefined
	readonly send: (request: RemoteRequest) => void
	readonly interrupted: (listener: (event: Interruption$1) => void) => () => void
	readonly mayHaveLost: (counted: CountedKey$1, ageMs: number) => boolean
	readonly close: () => void
}

interface RemoteRequest extends TimedRequest {
	readonly operation: RemoteOperation
	readonly charges: readonly Charge$1[]
	readonly names: readonly string[]
	readonly takenAt: number
	readonly id: string
	readonly requestedAt: number
	readonly resolve: (answer: Answer$1) => void
}

type RemoteOperation = 'take' | 'peek' | 'adjust' | 'reset'

declare class RemoteCalls<R extends RemoteRequest = RemoteRequest> {
	#private
	readonly queue: RequestQueue<R>
	constructor(options: RemoteCallsOptions<R>)
	add(request: R): void
	again(requests: readonly R[], failure?: RemoteFailure): void
}

declare class RequestQueue<R> {
	#private
	constructor(options: RequestQueueOptions<R>)
	add(request: R): void
	get isIdle(): boolean
	began(): void
	readonly ended: () => void
}
interface RequestQueueOptions<R> {
	readonly send: (requests: readonly R[]) => Promise<() => void>
	readonly sizeOf?: ((request: R) => number) | undefined
	readonly maxSize?: number | undefined
	readonly mayShare?: ((one: R, other: R) => boolean) | undefined
	readonly maxCalls?: number | undefined
	readonly isPrompt?: boolean | undefined
	readonly schedule?: ((send: () => void) => void) | undefined
	readonly idle?: (() => void) | undefined
}

interface RemoteCallsOptions<R extends RemoteRequest>
	extends Pick<RequestQueueOptions<R>, 'maxCalls' | 'isPrompt' | 'schedule' | 'idle'> {
	readonly transport: Transport<R>
	readonly clock: Clock
	readonly observers: Observers
	readonly maxBatch: number
	readonly sent?: ((call: Promise<unknown>) => void) | undefined
	readonly resend?: ((request: R) => void) | undefined
}

interface Transport<R extends RemoteRequest = RemoteRequest> {
	prepare?(requests: readonly R[]): Promise<unknown> | undefined
	call(requests: readonly R[], deadlineAt: number): Promise<RemoteReply<R>>
	failed(error: unknown, requests: readonly R[]): RemoteFailure
	lateFailure(): RemoteFailure
	repeats?(failure: RemoteFailure): 'together' | 'alone' | undefined
}

interface RemoteReply<R extends RemoteRequest = RemoteRequest> {
	readonly late: boolean
	next(request: R, moved: (charge: number, units: number) => void): Answer$1 | RemoteFailure
}

declare abstract class RemoteFailure extends Error {
	readonly code: string
	readonly keyOnly: boolean
	readonly mayHaveCounted: boolean
	constructor(code: string, message: string, { keyOnly, mayHaveCounted, cause }?: RemoteFailureOptions)
	unsent(): RemoteFailure
}
interface RemoteFailureOptions {
	readonly keyOnly?: boolean | undefined
	readonly mayHaveCounted?: boolean | undefined
	readonly cause?: unknown
}

declare function settle<R extends RemoteRequest>(
	requests: readonly R[],
	reply: Pick<RemoteReply<R>, 'next'>,
	observers: Observers
): void

declare function messageOfAny(error: unknown): string | undefined

declare function knownOf({ operation }: RemoteRequest, { known }: Charge$1): PriorUsage | undefined

type ReportedNumbers = readonly [number, number, number, number, number, number, number]

interface ReportedUsage extends Pick<PriorUsage, 'used' | 'held' | 'resetAfterMs' | 'admitted'> {
	readonly usedAt: number
	readonly admittedAt: number
}

declare function reportedNumbers({ used, resetAfterMs, usedAt, admitted, admittedAt }: ReportedUsage): ReportedNumbers

declare function reportedUsage(known: PriorUsage, timeAgo: (ageMs: number) => number): ReportedUsage

declare class ServerState {
	#private
	lostBefore: number | undefined
	constructor(clock: Clock, serverTime: (() => number) | undefined)
	get isSimulated(): boolean
	get isKnown(): boolean
	at(at: number): number
	timesOf(deadlineAt: number): CallTimes
	replied({ now, lostBefore }: ServerReport, sentAt: number): void
	answered(): void
	failed(): void
	mayHaveLost(ageMs: number): boolean
	listen(listener: Listener): () => void
	close(): void
}

interface CallTimes {
	readonly deadline: number | null
	readonly given: number | null
}

interface ServerReport {
	readonly now: number
	readonly lostBefore: number
}

type Listener = (event: Interruption$1) => void
declare class ServerTime {
	#private
	learnedAt: number
	at(at: number): number | undefined
	notBefore(at: number): number | undefined
	replied(now: number, sentAt: number, receivedAt: number): void
}

declare function isUrgent({ operation, deadlineAt }: Pick<TimedRequest, 'operation' | 'deadlineAt'>): boolean

declare function soonest(requests: readonly Pick<TimedRequest, 'deadlineAt'>[]): number

declare function stillWanted<R extends TimedRequest>(
	requests: readonly R[],
	now: number,
	late: (request: R) => Error
): readonly R[]

declare function hostOf({ headers }: RequestHeaders): string | undefined
interface RequestHeaders {
	readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

declare function isLocalRequest({ socket, headers }: RequestOrigin): boolean

interface RequestOrigin extends RequestHeaders {
	readonly socket?:
		| {
				readonly remoteAddress?: string | undefined
		  }
		| null
		| undefined
}

declare function hasUnreadBody({ headers, complete, httpVersionMajor }: ReceivedRequest): boolean

interface ReceivedRequest extends RequestHeaders {
	readonly complete: boolean
	readonly httpVersionMajor: number
}

declare class HashRing {
	#private
	constructor(names: readonly string[], options?: HashRingOptions)
	serverOf(key: string): string
}
interface HashRingOptions {
	readonly seed?: Uint8Array | undefined
	readonly nodes?: number | undefined
}

declare class RingBackend implements Backend$1<Answer$1> {
	#private
	readonly name: string
	readonly synchronous = true
	readonly identity: object | undefined
	readonly algorithms: readonly AlgorithmName$1[] | undefined
	constructor(ring: Pick<HashRing, 'serverOf'>, backends: ReadonlyMap<string, Backend$1<Answer$1>>)
	open(compiled: CompiledPolicy$1, name: string, isOverride?: boolean): RingCounter
	takeAll(charges: readonly Charge$1[], moment?: Moment$1): Answer$1
	peekAll(charges: readonly Charge$1[], moment?: Moment$1): Answer$1
	adjustAll(charges: readonly Charge$1[], takenAt: number, moment?: Moment$1): Answer$1
	resetAll(keys: readonly CountedKey$1[]): Promise<void>
	observe(observer: Observer$1): () => void
	close(): Promise<void>
}

declare class RingCounter implements Counter$1<Answer$1> {
	#private
	readonly compiled: CompiledPolicy$1
	readonly name: string
	constructor(ring: Pick<HashRing, 'serverOf'>, counters: ReadonlyMap<string, Counter$1<Answer$1>>)
	take(key: string, cost: number, moment?: Moment$1): Decision
	on(server: string): Counter$1<Answer$1>
	close(): void
}

interface AnswerContext {
	readonly now: number
	readonly source: string
	readonly moved: (charge: number, units: number) => void
}

interface AnsweredRequest {
	readonly operation: RowRequest['operation']
	readonly charges: readonly Charge$1[]
}

interface RowRequest {
	readonly operation: RemoteOperation
	readonly takenAt: number
	readonly doneNames: readonly string[] | undefined
	readonly charges: readonly RowCharge[]
}

interface RowCharge {
	readonly name: string
	readonly compiled: CompiledPolicy$1
	readonly cost: number
	readonly advisory: boolean
	readonly known: ReportedUsage | undefined
}

declare function answerOfNumbers(
	numbers: unknown,
	{ operation, charges }: AnsweredRequest,
	{ now, source, moved }: AnswerContext
): Answer$1 | undefined

declare class Decisions {
	#private
	readonly writes: Map<string, Float64Array>
	constructor(entryOf: EntryOf, times: DecisionTimes)
	decide({ operation, takenAt, charges: received, doneNames }: RowRequest): (number | null)[] | null
}

type EntryOf = (name: string) => LimitEntry

declare class LimitEntry {
	#private
	keptUntil: number
	resetAt: number
	refundedAt: number
	constructor(stored: unknown)
	cellsOf(compiled: CompiledPolicy$1): Float64Array | undefined
	reset(compiled: CompiledPolicy$1, now: number, clock: number): void
	markRefund(now: number, untilClock: number): void
	get applied(): number | undefined
	setApplied(units: number, keptUntil: number): Float64Array
	toStored(now: number, clock: number): Float64Array
}

interface DecisionTimes {
	readonly now: number
	readonly clock: number
	readonly lostBefore: number
}
declare function isFloats(value: unknown): value is Float64Array
declare function bytesOfFloats(floats: Float64Array): Uint8Array

declare function floatsOfBytes(bytes: Uint8Array): Float64Array | undefined

declare function countNameOf(name: string): string

declare function doneNamesOf(counts: readonly string[], id: string): string[]

declare function haveSameLayout(one: CompiledPolicy$1, other: CompiledPolicy$1): boolean
export {
	type Counters,
	type CounterDeltas,
	type IncrementOptions,
	type CounterReceipt,
	type BatchReceipt,
	type ReadOptions,
	type ReadManyOptions,
	type CounterReading,
	type RowVersion,
	type Row,
	type Change,
	type RowWriteOptions,
	type RowStore,
	checkTopic,
	isTopic,
	isWorker,
	keepRunning,
	runtimeWaitUntil,
	type WaitUntil,
	imported as read,
	PARTITIONS,
	partitionOf,
	repetitions,
	compiledOf,
	sentPolicyOf,
	settledWithin,
	checkMessage,
	TopicReceivers,
	TurnBatch,
	answeredBy,
	givenUpAt,
	EntryNames,
	plainName,
	RemoteBackend,
	type RemoteBackendDeps,
	RemoteCalls,
	type RemoteCallsOptions,
	type RemoteReply,
	settle,
	type Transport,
	messageOfAny,
	RemoteFailure,
	type RemoteFailureOptions,
	knownOf,
	type RemoteOperation,
	type RemoteRequest,
	type ReportedNumbers,
	type ReportedUsage,
	reportedNumbers,
	reportedUsage,
	RequestQueue,
	ServerState,
	ServerTime,
	isUrgent,
	soonest,
	stillWanted,
	hostOf,
	isLocalRequest,
	hasUnreadBody,
	HashRing,
	type HashRingOptions,
	RingBackend,
	type AnswerContext,
	type AnsweredRequest,
	answerOfNumbers,
	Decisions,
	type DecisionTimes,
	type EntryOf,
	isFloats,
	LimitEntry,
	bytesOfFloats,
	floatsOfBytes,
	countNameOf,
	doneNamesOf,
	type RowCharge,
	type RowRequest,
	haveSameLayout
}
export { PlainCounter, type SentPolicy } from './types.js'
export { type CompiledPolicy as CompiledPolicy } from '@sluice/limiter-core'

// index.d.ts
import {
	Clock,
	Backend as Backend$1,
	CountedKey as CountedKey$1,
	Charge as Charge$1
} from '@sluice/limiter-core/backend'
import { LeaseOptions, LeaseTerms, SentPolicy, LeaseRequest, MemoryLedger } from './types.js'

interface ClusterBackendOptions extends LeaseOptions {
	readonly maxBytes?: number | undefined
	readonly clock?: Clock | undefined
}

declare function clusterBackend(options?: ClusterBackendOptions): Backend$1

declare function workerBackend(port: Port, terms: LeaseTerms, clock: Clock): Backend$1

interface Port {
	readonly connected: boolean
	send(message: object, failed: () => void): void
	listen(message: (message: unknown) => void, lost: () => void): () => void
}
declare class ClusterFailure extends Error {
	readonly code: 'CONNECTION' | 'LATE' | 'ERR'
	readonly mayHaveCounted: boolean
	constructor(code: 'CONNECTION' | 'LATE' | 'ERR', message: string, mayHaveCounted?: boolean)
}

interface AnswerMessage {
	readonly mark: typeof MARK
	readonly line: number
	readonly answers: readonly {
		readonly id: number
		readonly value?: unknown
		readonly late?: true
		readonly error?: string
	}[]
}

declare const MARK = 'sluice.cluster@2'

interface CallMessage {
	readonly mark: typeof MARK
	readonly line: number
	readonly counters: readonly SentCounter[]
	readonly calls: readonly {
		readonly id: number
		readonly call: SentCall
		readonly deadlineWall: number
	}[]
}

interface SentCounter extends SentPolicy {
	readonly name: string
}

type SentCall =
	| {
			readonly op: 'ask'
			readonly asks: readonly Sent<LeaseRequest>[]
	  }
	| {
			readonly op: 'take' | 'peek'
			readonly charges: readonly Sent<Charge$1>[]
	  }
	| {
			readonly op: 'adjust'
			readonly charges: readonly Sent<Charge$1>[]
			readonly takenAt: number | null
			readonly id?: string | undefined
	  }
	| {
			readonly op: 'reset'
			readonly keys: readonly Sent<CountedKey$1>[]
	  }

type Sent<T extends CountedKey$1> = Omit<T, 'counter'> & {
	readonly counter: number
}

declare class ClusterServer {
	#private
	readonly ledger: MemoryLedger
	constructor(terms: LeaseTerms, maxBytes: number | undefined, clock: Clock)
	handle(message: unknown): AnswerMessage | undefined
	close(): void
}
export {
	type ClusterBackendOptions,
	clusterBackend,
	workerBackend,
	type Port,
	ClusterFailure,
	type AnswerMessage,
	type CallMessage,
	ClusterServer
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

// leases.d.ts
import {
	Clock,
	Backend as Backend$1,
	CountedKey as CountedKey$1,
	PriorUsage,
	Charge as Charge$1,
	Answer as Answer$1,
	MaybePromise as MaybePromise$1,
	Fund,
	CompiledPolicy as CompiledPolicy$1,
	Counter as Counter$1,
	Moment as Moment$1,
	Observer as Observer$1,
	Interruption as Interruption$1,
	Decision,
	HeldUnits as HeldUnits$1,
	SoleDecision
} from '@sluice/limiter-core/backend'
import { LeaseOptions, LeaseTerms, LeaseRequest, LeaseLedger, LeaseGrant } from './types.js'

declare const SETTLED_MS = 60000

declare function grantOf({ want, demand, minimum }: LeaseRequest, free: number, fraction: number): number

declare function isLeased(compiled: CompiledPolicy$1, { fraction }: LeaseTerms): boolean

declare function isStale(
	{ seq }: LeaseRequest,
	lease:
		| {
				readonly seq: number
		  }
		| undefined
): boolean

declare const LEASE_GRACE_FACTOR = 1.05

declare function leaseMsOf(compiled: CompiledPolicy$1, { leaseMs }: LeaseTerms): number

declare function spentSince(
	{ base, spent }: LeaseRequest,
	lease:
		| {
				readonly base: number
				readonly charged: number
		  }
		| undefined
): number

declare class LeaseTable implements LeaseHost {
	#private
	constructor(ledger: LeaseLedger, terms: LeaseTerms, clock: Clock)
	get size(): number
	now(): number
	nextSeq(): number
	call(call: LeaseCall): void
	ledgerAnswered(ledgerNow: number): void
	ledgerFailed(): void
	mayHaveLost({ key, counter }: LeasedKey, ageMs: number): boolean
	get failing(): boolean
	offsetMs(target: CountedKey$1): number
	of({ key, counter }: LeasedKey, now: number): LeaseQueue
	find({ key, counter }: CountedKey$1): LeaseQueue | undefined
	forget(target: CountedKey$1): void
	close(): Promise<void>
}

interface LeaseHost {
	readonly failing: boolean
	nextSeq(): number
	now(): number
	call(call: LeaseCall): void
	ledgerAnswered(ledgerNow: number): void
	ledgerFailed(): void
	mayHaveLost(lease: HeldLease, ageMs: number): boolean
}

interface LeaseCall {
	readonly deadlineAt: number
	compose(): LeaseRequest
	granted(ask: LeaseRequest, grant: LeaseGrant, sentAt: number): void
	failed(error: unknown): void
}

declare class HeldLease {
	#private
	readonly key: string
	readonly counter: LeasedCounter
	readonly leaseMs: number
	readonly owner: number
	dueAt: number
	readonly view: LedgerView
	constructor({ key, counter }: LeasedKey, terms: LeaseTerms, owner: number, now: number)
	hasSameLimitAs({ capacity, policy }: CompiledPolicy$1): boolean
	fits(cost: number, now: number): boolean
	held(now: number): HeldUnits$1 | undefined
	spentUnits(now: number): number
	hasEnded(now: number): boolean
	spend(cost: number): void
	move(units: number, takenAt: number, now: number): boolean
	get isLow(): boolean
	get isOverfull(): boolean
	isIdle(now: number): boolean
	get mustReport(): boolean
	review(): void
	release(): void
	forget(seq: number): void
	nextRequest(seq: number, now: number, demand: Demand, more: boolean): LeaseRequest
	granted(ask: LeaseRequest, grant: LeaseGrant, requestedAt: number, now: number): void
	remaining(now: number): number
}

declare class LeasedCounter implements Counter$1<MaybePromise$1<Answer$1>> {
	#private
	readonly compiled: CompiledPolicy$1
	readonly name: string
	readonly isLeasable: boolean
	readonly exact: Counter$1
	constructor(backend: TakeOne, exact: Counter$1, isLeasable: boolean, closed: () => void)
	take(key: string, cost: number, moment?: Moment$1): MaybePromise$1<Decision>
	close(): void
}

interface TakeOne {
	takeOne(counter: LeasedCounter, key: string, cost: number, moment?: Moment$1): MaybePromise$1<Decision>
}

declare class LedgerView {
	#private
	free: number
	offsetMs: number | undefined
	fund: Fund | undefined
	constructor(compiled: CompiledPolicy$1)
	get capacity(): number
	maxCost(now: number): number
	update(grant: LeaseGrant, requestedAt: number, now: number): void
	ageMs(now: number): number
	known(now: number): PriorUsage | undefined
	denied(cost: number, now: number): boolean
	remembers(now: number): boolean
	deny(cost: number, now: number): void
	forgetDenial(): void
	forget(): void
	retryAfterMs(cost: number, now: number): number
	resetAfterMs(now: number): number
	availableAfterMs(remaining: number, retryAfterMs: number, now: number): number
}

type LeasedKey = CountedKey$1<LeasedCounter>

interface Demand {
	readonly units: number
	readonly least: number
	readonly most: number
	readonly known: PriorUsage | undefined
}

declare class LeaseQueue implements LeaseCall {
	#private
	readonly lease: HeldLease
	constructor(lease: HeldLease, home: LeaseHost)
	get asking(): boolean
	get deadlineAt(): number
	wait(waiter: WaitingTake): void
	prefetch(deadlineAt: number): void
	report(deadlineAt: number): void
	move(units: number, takenAt: number, now: number): boolean
	retire(deadlineAt: number): void
	settled(): Promise<void> | undefined
	compose(): LeaseRequest
	granted(ask: LeaseRequest, grant: LeaseGrant, sentAt: number): void
	failed(error: unknown): void
}

interface WaitingTake {
	readonly cost: number
	readonly spends: boolean
	readonly deadlineAt: number
	readonly known: PriorUsage | undefined
	readonly answer: (fits: boolean) => void
	readonly fail: (error: unknown) => void
}

type LeasedCharge = Charge$1<LeasedCounter>

declare const LEASE_OPTIONS: readonly ['fraction', 'leaseMs']

declare class LeasingBackend implements Backend$1 {
	#private
	readonly name: string
	readonly identity: object | undefined
	readonly keepsCalendars: boolean | undefined
	readonly keepsHolds: boolean | undefined
	readonly booksTurns: boolean | undefined
	readonly passed?: NonNullable<Backend$1['passed']>
	constructor({ name, exact, ledger, takeUnleased, terms, keepsCalendars, clock }: LeasingDeps)
	open(compiled: CompiledPolicy$1, name: string, isOverride?: boolean): LeasedCounter
	takeAll(charges: readonly Charge$1[], moment?: Moment$1): MaybePromise$1<Answer$1>
	takeOne(counter: LeasedCounter, key: string, cost: number, moment?: Moment$1): MaybePromise$1<Decision>
	peekAll(charges: readonly Charge$1[], moment?: Moment$1): MaybePromise$1<Answer$1>
	adjustAll(charges: readonly Charge$1[], takenAt: number, moment?: Moment$1): MaybePromise$1<Answer$1>
	resetAll(keys: readonly CountedKey$1[]): MaybePromise$1<void>
	observe(observer: Observer$1): () => void
	takeHeld(requested: readonly Charge$1[]): Answer$1 | undefined
	interrupted(listener: (event: Interruption$1) => void): () => void
	mayHaveLost(requested: CountedKey$1, ageMs: number): boolean
	mayCountUnanswered(requested: CountedKey$1): boolean
	heldOf(requested: CountedKey$1): readonly HeldUnits$1[]
	close(): Promise<void>
	protected reported(target: CountedKey$1): Promise<void>
}

interface LeasingDeps {
	readonly name: string
	readonly exact: Backend$1
	readonly ledger: LeaseLedger
	readonly takeUnleased?: TakeUnleased | undefined
	readonly terms: LeaseTerms
	readonly keepsCalendars?: boolean | undefined
	readonly clock?: Clock | undefined
}

type TakeUnleased = (charge: Charge$1, deadlineAt: number) => Promise<SoleDecision>

declare function leaseTermsOf(owner: string, { fraction, leaseMs: given }: LeaseOptions): LeaseTerms
export {
	SETTLED_MS,
	grantOf,
	isLeased,
	isStale,
	LEASE_GRACE_FACTOR,
	leaseMsOf,
	spentSince,
	LeaseTable,
	type LeasedCharge,
	type LeasedCounter,
	type LeasedKey,
	LEASE_OPTIONS,
	LeasingBackend,
	type LeasingDeps,
	leaseTermsOf
}
export {
	type LeaseGrant,
	type LeaseLedger,
	type LeaseRequest,
	type LeaseTerms,
	type LeaseOptions,
	MemoryLedger
} from './types.js'

// metrics/index.d.ts
import { MetricSource, Metric as Metric$1, MetricLabels, BucketSample } from '@sluice/limiter-core/backend'

declare class CounterMetric implements MetricSource {
	#private
	constructor(options: MetricOptions)
	labels(...values: readonly string[]): CounterSeries
	add(amount?: number, ...labelValues: readonly string[]): void
	metrics(): Iterable<Metric$1>
}

interface MetricOptions {
	readonly name: string
	readonly help: string
	readonly labels?: readonly string[] | undefined
	readonly maxSeries?: number | undefined
}

declare class CounterSeries {
	#private
	get value(): number
	add(amount?: number): void
}

declare class GaugeMetric implements MetricSource {
	#private
	constructor(options: MetricOptions)
	labels(...values: readonly string[]): GaugeSeries
	set(value: number, ...labelValues: readonly string[]): void
	add(amount: number, ...labelValues: readonly string[]): void
	metrics(): Iterable<Metric$1>
}

declare class GaugeSeries {
	#private
	get value(): number
	set(value: number): void
	add(amount: number): void
}

declare class HistogramMetric implements MetricSource {
	#private
	constructor(options: HistogramOptions)
	labels(...values: readonly string[]): HistogramSeries
	observe(value: number, ...labelValues: readonly string[]): void
	metrics(): Iterable<Metric$1>
}

interface HistogramOptions extends MetricOptions {
	readonly buckets: readonly number[]
}

declare class HistogramSeries {
	#private
	constructor(bounds: Float64Array)
	observe(value: number): void
	sample(labels: MetricLabels): BucketSample
}

declare class Metrics implements MetricSource {
	#private
	constructor(sources: readonly MetricSource[], options?: MetricsOptions)
	metrics(): Iterable<Metric$1>
}

interface MetricsOptions {
	readonly prefix?: string | undefined
	readonly labels?: MetricLabels | undefined
}

declare function prometheusText(...sources: readonly MetricSource[]): string
export {
	CounterMetric,
	type CounterSeries,
	GaugeMetric,
	type GaugeSeries,
	HistogramMetric,
	type HistogramOptions,
	type HistogramSeries,
	Metrics,
	type MetricsOptions,
	prometheusText,
	type MetricOptions
}
export { type Metric as Metric } from '@sluice/limiter-core'

// sync.d.ts
import {
	Duration,
	Clock,
	Backend as Backend$1,
	CountedKey as CountedKey$1,
	PriorUsage,
	Charge as Charge$1,
	Answer as Answer$1,
	CompiledPolicy as CompiledPolicy$1,
	Counter as Counter$1,
	Moment as Moment$1,
	Observer as Observer$1,
	AlgorithmName as AlgorithmName$1,
	Decision,
	MetricSource,
	Metric as Metric$1,
	MemoryCounter,
	WrappedPolicy,
	CountEstimate as CountEstimate$1
} from '@sluice/limiter-core/backend'

declare function maxLateMs({ policy, variants }: CompiledPolicy$1): number

interface SilenceRule {
	readonly source: 'local' | 'allow' | 'deny'
	readonly share?: number | undefined
}

declare class MemorySyncLedger {
	#private
	constructor(clock: Pick<Clock, 'now'>)
	join(): SyncLedger
	exchange(writer: string, { partition, number, takes, afterLoss }: SyncBatch): SyncAnswer
	loseData(): void
	reset(keys: readonly CountedKey$1[]): void
	nodes(writer: string, withinMs?: number): number
	used(counted: CountedKey$1): number
}

interface SyncLedger {
	readonly partitions: number
	partitionOf(key: string): number
	serverOf?(partition: number): string
	exchange(batch: SyncBatch, deadlineAt: number): Promise<SyncAnswer>
	readonly arrived?: ReceivedCounts | undefined
	resetAll(keys: readonly CountedKey$1[]): Promise<void>
	nodes?(deadlineAt: number): Promise<number | undefined>
	close?(): Promise<void> | void
}

interface SyncBatch {
	readonly partition: number
	readonly number: number
	readonly takes: readonly ReportedTakes[]
	readonly afterLoss?: boolean | undefined
	readonly isRepeated?: boolean | undefined
}

interface ReportedTakes extends CountedKey$1 {
	readonly takes: readonly number[]
	readonly known?: PriorUsage | undefined
}

interface SyncAnswer {
	readonly cells: readonly (readonly number[] | Error)[]
	readonly lost: boolean
}

interface ReceivedCounts {
	of(counted: CountedKey$1): {
		readonly cells: readonly number[]
		readonly place: number
	}
	changedAt(place: number): number
}

declare const DEFAULT_MAX_KEYS = 300000

declare const SYNC_OPTIONS: readonly [
	'tickMs',
	'gapMs',
	'burst',
	'floor',
	'nodes',
	'silentMs',
	'closeMs',
	'maxKeys',
	'count'
]

interface SyncOptions {
	readonly tickMs?: Duration | undefined
	readonly gapMs?: Duration | undefined
	readonly burst?: number | undefined
	readonly floor?: number | undefined
	readonly nodes?: number | undefined
	readonly silentMs?: Duration | undefined
	readonly closeMs?: Duration | undefined
	readonly maxKeys?: number | undefined
	readonly count?: 'admitted' | 'all' | undefined
}

interface SyncTerms {
	readonly tickMs: number
	readonly gapMs: number
	readonly burst: number
	readonly floor: number
	readonly nodes: number | undefined
	readonly silentMs: number
	readonly closeMs: number
	readonly maxKeys: number
	readonly countsDenied: boolean
}

declare function syncTermsOf(owner: string, options: SyncOptions): SyncTerms

type SyncedCharge = Charge$1<SyncedCounter>

declare class SyncedCounter implements Counter$1<Answer$1> {
	#private
	readonly compiled: CompiledPolicy$1
	readonly name: string
	readonly local: MemoryCounter<SyncedPolicy>
	constructor(backend: TakeOne$1, local: MemoryCounter<SyncedPolicy>, closed: (counter: SyncedCounter) => void)
	take(key: string, cost: number, moment?: Moment$1): Decision
	close(): void
}

declare class SyncedPolicy extends WrappedPolicy {
	#private
	floor: number
	floorNodes: number
	readonly spanMs: number
	scale: number
	readonly row: Row$1
	constructor(inner: CompiledPolicy$1, { burst, gapMs }: SyncTerms)
	waitMs(cells: Float64Array, at: number, now: number, cost: number): number
	numbers(cells: Float64Array, at: number, now: number, cost: number, waitMs: number, numbers: Float64Array): void
	spend(cells: Float64Array, at: number, now: number, cost: number): void
	adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number
	remaining(cells: Float64Array, at: number, now: number): number
	adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void
	readonly restorer: Pick<CompiledPolicy$1, 'adopt'>
	adopterOf({ cells: reply, requestedAt, unreported, isRepeated, place }: Adopted): Pick<CompiledPolicy$1, 'adopt'>
	chargedAt({ cells, at }: Row$1, now: number, units: number, takenAt: number): number
	requestedAt({ cells, at }: Row$1): number
	placeInLedger({ cells, at }: Row$1): number
	pressure({ cells, at }: Row$1, now: number): number
	pending({ cells, at }: Row$1): number
	outboxPosition({ cells, at }: Row$1): number
	known(row: Row$1, now: number, unanswered: readonly (PendingUsage | undefined)[]): PriorUsage | undefined
	holdBack({ cells, at }: Row$1, units: number, floor: number): boolean
	releaseHeldBack({ cells, at }: Row$1, place: number): number
}

interface Row$1 {
	cells: Float64Array
	at: number
}

interface Adopted {
	readonly cells: readonly number[]
	readonly requestedAt: number
	readonly unreported: (place: number) => PendingUsage | undefined
	readonly isRepeated: boolean
	readonly place?: number
}

declare class PendingUsage {
	readonly key: string
	readonly counter: Counter$1
	readonly partition: number
	readonly takes: number[]
	units: number
	known: PriorUsage | undefined
	constructor(counter: Counter$1, key: string, partition: number)
	add(units: number, takenAt: number, spanMs: number): void
	forget(instant: number): void
	clear(): void
}

interface TakeOne$1 {
	takeOne(counter: SyncedCounter, key: string, cost: number, moment?: Moment$1): Decision
}

declare class SyncingBackend implements Backend$1<Answer$1>, MetricSource {
	#private
	readonly name: string
	readonly identity: object | undefined
	readonly synchronous = true
	readonly algorithms: readonly AlgorithmName$1[]
	constructor(deps: SyncingDeps)
	open(compiled: CompiledPolicy$1, name: string): SyncedCounter
	takeOne(counter: SyncedCounter, key: string, cost: number, moment?: Moment$1): Decision
	takeAll(requested: readonly Charge$1[], moment?: Moment$1): Answer$1
	peekAll(requested: readonly Charge$1[], moment?: Moment$1): Answer$1
	adjustAll(requested: readonly Charge$1[], takenAt: number, moment?: Moment$1): Answer$1
	resetAll(requested: readonly CountedKey$1[]): Promise<void>
	estimateOf(requested: CountedKey$1): CountEstimate$1
	observe(observer: Observer$1): () => void
	metrics(): Iterable<Metric$1>
	close(): Promise<void>
}

interface SyncingDeps {
	readonly name: string
	readonly identity?: object | undefined
	readonly ledger: SyncLedger
	readonly terms: SyncTerms
	readonly rule: SilenceRule
	readonly algorithms?: readonly AlgorithmName$1[] | undefined
	readonly clock?: Clock | undefined
	readonly random?: (() => number) | undefined
}
export {
	maxLateMs,
	type SilenceRule,
	MemorySyncLedger,
	type ReceivedCounts,
	type ReportedTakes,
	type SyncAnswer,
	type SyncBatch,
	type SyncLedger,
	DEFAULT_MAX_KEYS,
	SYNC_OPTIONS,
	type SyncOptions,
	type SyncTerms,
	syncTermsOf,
	type SyncedCharge,
	type SyncedCounter,
	SyncingBackend,
	type SyncingDeps
}

// types.d.ts
import {
	Duration,
	Backend as Backend$1,
	Policy,
	PolicyVariant,
	CountedKey as CountedKey$1,
	PriorUsage,
	Charge as Charge$1,
	Answer as Answer$1,
	MaybePromise as MaybePromise$1,
	Fund,
	CompiledPolicy as CompiledPolicy$1,
	Counter as Counter$1,
	Moment as Moment$1,
	DecisionOf,
	Observer as Observer$1
} from '@sluice/limiter-core/backend'

interface LeaseOptions {
	readonly fraction?: number | undefined
	readonly leaseMs?: Duration | undefined
}

interface LeaseTerms {
	readonly leaseMs: number
	readonly fraction: number
	readonly heldFraction?: number | undefined
}

interface SentPolicy {
	readonly policy: Policy
	readonly room?: number | undefined
	readonly variants?: readonly SentVariant[] | undefined
	readonly holdSliceMs?: number | undefined
}

interface SentVariant extends Omit<PolicyVariant, 'compiled'> {
	readonly policy: Policy
	readonly room?: number | undefined
}

interface LeaseRequest extends CountedKey$1 {
	readonly owner: number
	readonly seq: number
	readonly base: number
	readonly spent: number
	readonly keep: number
	readonly want: number
	readonly demand: number
	readonly minimum: number
	readonly need: number
	readonly known?: PriorUsage | undefined
}

declare class MemoryLedger implements Backend$1<Answer$1>, LeaseLedger {
	#private
	readonly name: string
	readonly synchronous = true
	constructor(name: string, memory: Backend$1<Answer$1>, terms: LeaseTerms, now: () => number)
	get keys(): number
	open(compiled: CompiledPolicy$1, name: string): LedgerCounter
	request(asks: readonly LeaseRequest[]): readonly LeaseGrant[]
	sweep(): void
	takeAll(requested: readonly Charge$1[], moment?: Moment$1): Answer$1
	peekAll(requested: readonly Charge$1[], moment?: Moment$1): Answer$1
	adjustAll(requested: readonly Charge$1[], takenAt: number, moment?: Moment$1): Answer$1
	resetAll(requested: readonly CountedKey$1[]): void
	observe(observer: Observer$1): () => void
	close(): void
}

interface LeaseLedger {
	request(asks: readonly LeaseRequest[], deadlineAt: number): MaybePromise$1<readonly (LeaseGrant | Error)[]>
	mayHaveLost?(counted: CountedKey$1, ageMs: number): boolean
	close?(): void
}

interface LeaseGrant {
	readonly granted: number
	readonly free: number
	readonly charged: number
	readonly retryAfterMs: number
	readonly resetAfterMs: number
	readonly availableAfterMs?: number | undefined
	readonly now: number
	readonly leaseMs?: number | undefined
	readonly capacity?: number | undefined
	readonly fund?: Fund | undefined
}

declare class LedgerCounter extends PlainCounter<Answer$1> {
	readonly memory: Counter$1<Answer$1>
	constructor(ledger: MemoryLedger, memory: Counter$1<Answer$1>)
}

declare class PlainCounter<A extends MaybePromise$1<Answer$1>> implements Counter$1<A> {
	#private
	readonly compiled: CompiledPolicy$1
	readonly name: string
	constructor(backend: Pick<Backend$1<A>, 'takeAll'>, compiled: CompiledPolicy$1, name: string)
	take(key: string, cost: number, moment?: Moment$1): DecisionOf<A>
}
export {
	LeaseOptions,
	LeaseTerms,
	SentPolicy,
	SentVariant,
	LeaseRequest,
	MemoryLedger,
	LeaseLedger,
	LeaseGrant,
	LedgerCounter,
	PlainCounter
}
