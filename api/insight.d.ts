// index.d.ts
import {
	CapHandle,
	Decision,
	Metric,
	ObservedCap,
	ObservedLimiter,
	ObservedRequest,
	Observer,
	ObserverEvent,
	Policy,
	RecordStore,
	Duration,
	MetricSource,
	KeySource,
	Clock as Clock$1,
	MetricLabels,
	PolicyCalendar,
	Priority,
	DenialReason,
	ObservedPolicy,
	LimiterControls,
	CapControls,
	Fund,
	HeldUnits,
	CountEstimate
} from '@sluice/limiter-core'
import {
	Channel,
	Clock,
	Observer as Observer$1,
	Decision as Decision$1,
	ObservedRequest as ObservedRequest$1,
	Policy as Policy$1,
	CapHandle as CapHandle$1,
	ObservedCap as ObservedCap$1,
	ObserverEvent as ObserverEvent$1,
	RecordStore as RecordStore$1,
	ObservedLimiter as ObservedLimiter$1
} from '@sluice/limiter-core/backend'
import { IncomingMessage, ServerResponse } from 'node:http'

interface AuditLine {
	readonly at: number
	readonly event: 'begun' | 'undone' | 'ended' | 'failed'
	readonly entry: ControlEntry
	readonly text: string
}

interface ControlEntry extends ControlTerms {
	readonly action: ControlAction['action']
	readonly policy?: string | undefined
	readonly cap?: string | undefined
	readonly mode?: ControlledMode | undefined
	readonly limit?: number | undefined
	readonly key?: string | undefined
}

interface ControlTerms {
	readonly id: string
	readonly at: number
	readonly endsAt: number
	readonly by: string
	readonly reason?: string | undefined
	readonly undoneAt?: number | undefined
	readonly undoneBy?: string | undefined
}

type ControlAction =
	| ({
			readonly action: 'mode'
			readonly mode: ControlledMode
	  } & ControlTarget)
	| ({
			readonly action: 'limit'
			readonly limit: number
	  } & ControlTarget)
	| ({
			readonly action: 'block'
			readonly key: string
	  } & (ControlTarget | AllPolicies))
	| ({
			readonly action: 'reset' | 'unban'
			readonly key: string
	  } & (PolicyTarget | AllPolicies))

type ControlledMode = 'enforce' | 'shadow' | 'off'

type ControlTarget =
	| PolicyTarget
	| {
			readonly cap: string
			readonly policy?: undefined
	  }

interface PolicyTarget {
	readonly policy: string
	readonly cap?: undefined
}

interface AllPolicies {
	readonly policy?: undefined
	readonly cap?: undefined
}

interface ControlOptions {
	readonly limits?: Readonly<Record<string, LimitBounds>> | undefined
	readonly caps?: Readonly<Record<string, LimitBounds>> | undefined
	readonly enforce?: readonly string[] | undefined
	readonly audit?: ((line: AuditLine) => void) | undefined
	readonly store?: RecordStore | undefined
}

interface LimitBounds {
	readonly min: number
	readonly max: number
}

type ControlRequest = ControlAction & {
	readonly duration?: Duration | undefined
	readonly by?: string | undefined
	readonly reason?: string | undefined
}

declare function createInsight(options?: InsightOptions): Insight

interface InsightOptions {
	readonly privacy?: Privacy | undefined
	readonly sources?: readonly MetricSource[] | undefined
	readonly secret?: string | undefined
	readonly channel?: Channel | undefined
	readonly topic?: string | undefined
	readonly unique?: UniqueOptions | undefined
	readonly control?: ControlOptions | undefined
	readonly clock?: Partial<Clock> | undefined
}
type Privacy = 'full' | 'mask' | 'hash'

interface UniqueOptions {
	readonly by?: KeySource<any> | undefined
	readonly per?: 'route' | undefined
	readonly store?: UniqueStore | undefined
	readonly days?: number | undefined
}

interface UniqueStore {
	merge(day: string, entries: readonly UniqueRegisters[], keepMs: number): Promise<readonly string[]>
	read(day: string): Promise<readonly UniqueRegisters[]>
}
interface UniqueRegisters {
	readonly name: string
	readonly registers: string
}

declare class Insight implements Observer, MetricSource {
	#private
	readonly idOf: (key: string) => string
	constructor({ parts, live, explanations, control, bounds, idOf }: InsightDeps)
	decided(key: string, decision: Decision, request?: ObservedRequest): void
	charged(key: string, units: number, policy: Policy): void
	permitAcquired(key: string, cap: ObservedCap): void
	permitReleased(key: string, heldMs: number, cap: ObservedCap): void
	capDenied(key: string, cap: ObservedCap): void
	capLeft(key: string, cap: ObservedCap): void
	backendAnswered(backend: string, tookMs: number): void
	largestLimit(policy: string): number | undefined
	limiterOpened(limiter: ObservedLimiter): void
	limiterClosed(limiter: ObservedLimiter): void
	capOpened(cap: CapHandle): void
	capClosed(cap: CapHandle): void
	event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void
	metrics(): Iterable<Metric>
	snapshot(): InsightSnapshot
	explain(key: string, { cost }?: ExplainOptions): Promise<Explanation>
	keyOf(id: string): string | undefined
	control(request: ControlRequest): Promise<ControlEntry>
	undo(id: string, by?: string): Promise<boolean>
	controls(): readonly ControlEntry[]
	audit(): readonly AuditLine[]
	close(): Promise<void>
}

interface InsightDeps {
	readonly parts: readonly InsightPart[]
	readonly live: LiveSummaries
	readonly explanations: Explanations
	readonly control: OperatorControl
	readonly bounds: ControlBounds
	readonly idOf: (key: string) => string
}

interface InsightPart extends Observer, Partial<MetricSource> {
	close?(): Promise<void>
}

declare class LiveSummaries implements Observer$1 {
	#private
	constructor(options: LiveOptions)
	decided(key: string, decision: Decision$1, request?: ObservedRequest$1): void
	charged(_key: string, units: number, policy: Policy$1): void
	capOpened(cap: CapHandle$1): void
	permitAcquired(key: string, cap: ObservedCap$1): void
	permitReleased(key: string, heldMs: number, cap: ObservedCap$1): void
	capDenied(key: string, cap: ObservedCap$1): void
	event(name: ObserverEvent$1, data: Readonly<Record<string, unknown>>): void
	snapshot(): LiveSnapshot
	bansLifted(key: string, policy: string | undefined): void
	denialsOf(key: string): DenialSnapshot[]
	keyOf(id: string): string | undefined
	close(): Promise<void>
}

interface LiveOptions {
	readonly clock: Clock
	readonly names: KeyNames
	readonly denials: RecentDenials
	readonly secret: string | undefined
	readonly channel: Channel | undefined
	readonly topic: string
	readonly unique: UniqueOptions
	readonly unread: UnreadMessages
	readonly sources: () => readonly SourceSnapshot[]
	readonly waiting: () => ReadonlyMap<string, number>
	readonly onSync: (data: Readonly<Record<string, unknown>>) => void
}

interface KeyNames {
	shown(key: string): string
	id(key: string): string
}

declare class RecentDenials implements InsightPart {
	#private
	constructor(clock: Clock$1)
	decided(key: string, decision: Decision, request?: ObservedRequest): void
	of(key: string): DenialSnapshot[]
	keys(): Iterable<string>
	news(names: KeyNames): DenialReport[]
}

interface DenialSnapshot {
	readonly at: number
	readonly policy: string
	readonly route: string
	readonly method: string
	readonly isShadow: boolean
	readonly times: number
}

interface DenialReport {
	readonly id: string
	readonly denials: readonly DenialSnapshot[]
}
declare class UnreadMessages {
	#private
	constructor(onUnread: (topic: string) => void)
	get count(): number
	add(topic: string): void
}

type SourceSnapshot =
	| {
			readonly name: string
			readonly help: string
			readonly type: 'counter' | 'gauge'
			readonly samples: readonly ValuedSample[]
	  }
	| {
			readonly name: string
			readonly help: string
			readonly type: 'histogram'
			readonly samples: readonly MeasuredSample[]
	  }

interface ValuedSample {
	readonly labels: MetricLabels
	readonly value: number
}

interface MeasuredSample {
	readonly labels: MetricLabels
	readonly count: number
	readonly mean: number | null
	readonly p50: number | null
	readonly p99: number | null
}

type LiveSnapshot = Omit<InsightSnapshot, 'controls'>

interface InsightSnapshot {
	readonly at: number
	readonly isWholeFleet: boolean
	readonly processes: readonly ProcessSnapshot[]
	readonly ratePerSecond: RateSnapshot
	readonly deniedShare: number
	readonly policies: readonly PolicySnapshot[]
	readonly caps: readonly CapSnapshot[]
	readonly sheds: readonly ShedSnapshot[]
	readonly routes: readonly RouteSnapshot[]
	readonly uniques: UniquesSnapshot
	readonly backends: readonly BackendSnapshot[]
	readonly collapsed?: CollapsedSnapshot | undefined
	readonly history: HistorySnapshot
	readonly timeline: TimelineSnapshot
	readonly bans: readonly BanSnapshot[]
	readonly events: readonly EventSnapshot[]
	readonly controls: readonly ControlEntry[]
	readonly sources: readonly SourceSnapshot[]
	readonly unreadMessages: number
}

interface ProcessSnapshot {
	readonly id: string
	readonly host?: string
	readonly pid: number
	readonly version: string
	readonly startedAt: number
	readonly lastAt: number
	readonly uptimeMs: number
	readonly memoryBytes: number
	readonly lagMs: number | null
	readonly failing: readonly string[]
	readonly isSelf: boolean
}

interface RateSnapshot {
	readonly now: number
	readonly lastHour: number
}

interface PolicySnapshot {
	readonly name: string
	readonly limit: number
	readonly windowMs: number
	readonly unit: string
	readonly calendar?: Omit<PolicyCalendar, 'zoneOf'>
	readonly modes: {
		readonly enforce: number
		readonly shadow: number
	}
	readonly total: OutcomesSnapshot
	readonly units?: MovedUnitsSnapshot
	readonly perSecond: OutcomesSnapshot
	readonly nearest?: NearestSnapshot
	readonly topAllowed: readonly TopKeySnapshot[]
	readonly topDenied: readonly TopKeySnapshot[]
}

interface OutcomesSnapshot {
	readonly allowed: number
	readonly denied: number
	readonly shadowDenied: number
	readonly uncounted: number
}

interface MovedUnitsSnapshot {
	readonly charged: number
	readonly refunded: number
}

interface NearestSnapshot {
	readonly id?: string | undefined
	readonly key: string
	readonly usedShare: number
}

interface TopKeySnapshot {
	readonly id: string
	readonly key: string
	readonly count: number
	readonly error: number
}

interface CapSnapshot {
	readonly name: string
	readonly limit: number
	readonly held: number
	readonly waiting: number
	readonly peak: number
	readonly denied: number
	readonly byPriority: readonly CapPrioritySnapshot[]
	readonly byReason: readonly CapReasonSnapshot[]
	readonly holdMs: PercentilesSnapshot
	readonly objective?: ObjectiveSnapshot
}

interface CapPrioritySnapshot {
	readonly priority: Priority
	readonly admitted: number
	readonly denied: number
	readonly perSecond: {
		readonly admitted: number
		readonly denied: number
	}
}

interface CapReasonSnapshot {
	readonly reason: DenialReason
	readonly denied: number
}

interface PercentilesSnapshot {
	readonly p50: number | null
	readonly p90: number | null
	readonly p99: number | null
}

interface ObjectiveSnapshot {
	readonly quantile: number
	readonly targetMs: number
	readonly measuredMs: number | null
}

interface ShedSnapshot {
	readonly policy: string
	readonly byPriority: readonly ShedPrioritySnapshot[]
	readonly shadow: number
	readonly pressure: number | null
	readonly signal: string | null
}

interface ShedPrioritySnapshot {
	readonly priority: Priority
	readonly shed: number
	readonly perSecond: number
}

interface RouteSnapshot extends PercentilesSnapshot {
	readonly route: string
	readonly method: string
	readonly perSecond: number
}

interface UniquesSnapshot {
	readonly hour: number
	readonly day: number
	readonly byRoute?: readonly RouteUniquesSnapshot[]
	readonly days?: readonly UniqueDaySnapshot[]
}

interface RouteUniquesSnapshot {
	readonly route: string
	readonly method: string
	readonly hour: number
	readonly day: number
}

interface UniqueDaySnapshot {
	readonly date: string
	readonly count: number
	readonly byRoute?: readonly RouteDaySnapshot[]
}

interface RouteDaySnapshot {
	readonly route: string
	readonly method: string
	readonly count: number
}

interface BackendSnapshot {
	readonly name: string
	readonly state: 'ok' | 'failing' | 'open'
	readonly sinceMs: number
	readonly lastError: string | null
}

interface CollapsedSnapshot {
	readonly reason: string
	readonly trust?: string | undefined
}

interface HistorySnapshot {
	readonly startAt: number
	readonly stepMs: number
	readonly series: readonly PolicySeriesSnapshot[]
	readonly caps: readonly CapSeriesSnapshot[]
}

interface PolicySeriesSnapshot {
	readonly policy: string
	readonly outcome: SnapshotOutcome
	readonly values: readonly number[]
}

type SnapshotOutcome = keyof OutcomesSnapshot

interface CapSeriesSnapshot {
	readonly cap: string
	readonly values: readonly number[]
}

interface TimelineSnapshot {
	readonly startAt: number
	readonly stepMs: number
	readonly series: readonly CapTimelineSnapshot[]
}

interface CapTimelineSnapshot {
	readonly cap: string
	readonly measure: 'limit' | 'held' | 'waiting' | 'p50' | 'p99' | 'denied'
	readonly priority?: Priority
	readonly values: readonly (number | null)[]
}
interface BanSnapshot {
	readonly id: string
	readonly key: string
	readonly policy: string
	readonly endsAt: number
	readonly level: number
}

interface EventSnapshot {
	readonly at: number
	readonly name: string
	readonly text: string
}

declare class Explanations {
	#private
	constructor(deps: ExplanationsDeps)
	explain(key: string, cost: number): Promise<Explanation>
}

interface ExplanationsDeps {
	readonly clock: Clock$1
	readonly limiters: WatchedLimiters
	readonly names: KeyNames
	readonly isWholeFleet: boolean
	readonly control: OperatorControl
	readonly applied: AppliedControls
	readonly denialsOf: (key: string) => readonly DenialSnapshot[]
}

declare class WatchedLimiters implements InsightPart {
	#private
	limiterOpened(limiter: ObservedLimiter): void
	limiterClosed(limiter: ObservedLimiter): void
	has(policy: string): boolean
	policies(): WatchedPolicy[]
	applyToAll(effective: EffectiveControls): Map<string, string>
	apply(limiter: ObservedLimiter, effective: EffectiveControls): Map<string, string>
	reset({ action, key, policy: name }: ResetAction, isShared: boolean): Promise<void>
}

interface WatchedPolicy {
	readonly limiter: ObservedLimiter
	readonly index: number
	readonly policy: ObservedPolicy
}

declare class EffectiveControls {
	#private
	readonly all: LimiterControls | undefined
	readonly limitedPolicies: readonly string[]
	constructor(controls: readonly StoredControl[], now: () => number)
	modeOf(policy: string): ControlledMode | undefined
	without(policies: ReadonlySet<string>): LimiterControls | undefined
}

interface StoredControl extends ControlTerms {
	readonly change: ControlAction
}

interface ResetAction {
	readonly action: 'reset' | 'unban'
	readonly key: string
	readonly policy?: string | undefined
}

declare class OperatorControl implements InsightPart {
	#private
	constructor(deps: OperatorControlDeps)
	limiterOpened(limiter: ObservedLimiter$1): void
	capOpened(cap: CapHandle): void
	get entries(): ControlEntry[]
	entriesOf(key: string): ControlEntry[]
	get audit(): readonly AuditLine[]
	control(request: ControlRequest): Promise<ControlEntry>
	undo(id: string, by?: string): Promise<boolean>
	close(): Promise<void>
}

interface OperatorControlDeps {
	readonly clock: Clock
	readonly limiters: WatchedLimiters
	readonly caps: WatchedCaps
	readonly bounds: ControlBounds
	readonly applied: AppliedControls
	readonly shown: (key: string) => string
	readonly hasPolicy: (name: string) => boolean
	readonly hasCap: (name: string) => boolean
	readonly lifted: (key: string, policy: string | undefined) => void
	readonly onAudit: ControlOptions['audit']
	readonly fleet?:
		| {
				readonly channel: Channel
				readonly topic: string
				readonly secret: string | undefined
				readonly unread: UnreadMessages
		  }
		| undefined
	readonly stored?: Pick<ControlArchiveOptions, 'store' | 'secret' | 'topic' | 'unread' | 'failed'> | undefined
}

declare class WatchedCaps implements InsightPart {
	#private
	capOpened(cap: CapHandle): void
	capClosed(cap: CapHandle): void
	has(name: string): boolean
	waiting(): Map<string, number>
	applyToAll(changes: ReadonlyMap<string, CapControls>): Map<string, string>
	apply(cap: CapHandle, changes: ReadonlyMap<string, CapControls>): Map<string, string>
}

declare class ControlBounds {
	#private
	constructor({ limits, caps, enforce }: ControlOptions)
	of({ policy, cap }: Pick<ControlAction, 'policy' | 'cap'>): LimitBounds | undefined
	largestLimit(policy: string): number | undefined
	admits(change: ControlAction): boolean
}

declare class AppliedControls {
	#private
	constructor(deps: AppliedControlsDeps)
	get active(): readonly StoredControl[]
	replace(active: readonly StoredControl[]): void
	applyToCap(cap: CapHandle): void
	applyTo(limiter: ObservedLimiter): {
		readonly control: StoredControl
		readonly why: string
	}[]
	failureOf({ change }: StoredControl): string | undefined
	modeOf(policy: string): ControlledMode | undefined
}

interface AppliedControlsDeps {
	readonly limiters: WatchedLimiters
	readonly caps: WatchedCaps
	readonly bounds: ControlBounds
	readonly now: () => number
}

interface ControlArchiveOptions {
	readonly store: RecordStore$1
	readonly secret: string
	readonly topic: string
	readonly clock: Clock
	readonly unread: UnreadMessages
	readonly restored: (controls: readonly StoredControl[]) => void
	readonly failed: (cause: string | false) => void
}

interface Explanation {
	readonly at: number
	readonly key: string
	readonly cost: number
	readonly summary: readonly string[]
	readonly policies: readonly PolicyExplanation[]
	readonly controls: readonly ControlEntry[]
	readonly denials: readonly DenialSnapshot[]
	readonly isWholeFleet: boolean
}

interface PolicyExplanation {
	readonly policy: string
	readonly mode: 'enforce' | 'shadow' | 'off'
	readonly backend: string
	readonly perProcess: boolean
	readonly limit: number
	readonly isOverride: boolean
	readonly windowMs: number
	readonly unit: string
	readonly isExempt: boolean
	readonly used: number
	readonly remaining: number
	readonly singleUnit: ExpectedDecision
	readonly requested: ExpectedDecision
	readonly availableAfterMs: number
	readonly resetAfterMs: number
	readonly fund?: Fund | undefined
	readonly isCounted: boolean
	readonly source: string
	readonly held: readonly HeldUnits[]
	readonly estimate?: CountEstimate | undefined
	readonly text: string
}

interface ExpectedDecision {
	readonly allowed: boolean
	readonly retryAfterMs: number | null
}

interface ExplainOptions {
	readonly cost?: number | undefined
}

interface DenialLogger {
	warn(...line: unknown[]): void
	child?: unknown
}

interface LogObserverOptions {
	readonly logger: DenialLogger
	readonly privacy?: Privacy | undefined
	readonly secret?: string | undefined
	readonly insight?: Pick<Insight, 'idOf'> | undefined
	readonly clock?: Partial<Clock> | undefined
}

declare function logObserver(options: LogObserverOptions): Observer

interface OtelSpansOptions {
	readonly trace: OtelTrace
}

interface OtelTrace {
	getActiveSpan(): OtelSpan | undefined
}

interface OtelSpan {
	isRecording(): boolean
	setAttribute(name: string, value: string | boolean): unknown
}

declare function otelSpans(options: OtelSpansOptions): Observer

declare function metricsHandler(insight: MetricSource): (req: IncomingMessage, res: ServerResponse) => void

interface OtelMeter {
	createObservableCounter(name: string, options: OtelInstrumentOptions): OtelInstrument
	createObservableUpDownCounter(name: string, options: OtelInstrumentOptions): OtelInstrument
	createObservableGauge(name: string, options: OtelInstrumentOptions): OtelInstrument
}

interface OtelInstrumentOptions {
	readonly description: string
	readonly unit: string
}

interface OtelInstrument {
	addCallback(callback: Observe): void
	removeCallback(callback: Observe): void
}

type Observe = (result: { observe(value: number, attributes?: Record<string, string>): void }) => void

interface OtelMetricsOptions {
	readonly meter: OtelMeter
}

declare function otelMetrics(insight: MetricSource, options: OtelMetricsOptions): () => void

interface PromClientOptions {
	readonly register: PromClientRegister
}

interface PromClientRegister {
	registerMetric(metric: unknown): void
	getSingleMetric(name: string): unknown
	removeSingleMetric(name: string): void
}

declare function promClientMetrics(insight: MetricSource, options: PromClientOptions): () => void

interface Dashboard extends PageHandler {
	readonly koa: KoaMiddleware
	readonly fastify: FastifyPlugin
	close(): void
}

type PageHandler = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void

type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

interface KoaContext {
	readonly req: IncomingMessage
	readonly res: ServerResponse
	respond?: boolean
	readonly request: object
}

type FastifyPlugin = (app: FastifyApp, options: unknown, done: () => void) => void

interface FastifyApp {
	readonly prefix: string
	removeAllContentTypeParsers(): unknown
	addContentTypeParser(
		type: string,
		parser: (request: unknown, body: unknown, done: (error: null) => void) => void
	): unknown
	all(
		path: string,
		options: {
			readonly config: object
		},
		handler: (
			request: {
				readonly raw: unknown
			},
			reply: FastifyReply
		) => void
	): unknown
}

interface FastifyReply {
	readonly raw: unknown
	hijack(): unknown
}

interface DashboardOptions {
	readonly insight: InsightSource
	readonly token?: string | undefined
	readonly path?: string | undefined
	readonly updateMs?: number | undefined
	readonly clock?: Partial<Clock$1> | undefined
}

interface InsightSource extends SnapshotSource {
	explain(key: string, options?: ExplainOptions): Promise<Explanation>
	keyOf(id: string): string | undefined
	control(request: ControlRequest): Promise<ControlEntry>
	undo(id: string, by?: string): Promise<boolean>
	controls(): readonly ControlEntry[]
	audit(): readonly AuditLine[]
}

interface SnapshotSource {
	snapshot(): InsightSnapshot
}

declare function dashboard(options: DashboardOptions): Dashboard
export {
	type AuditLine,
	type ControlAction,
	type ControlEntry,
	type ControlledMode,
	type ControlOptions,
	type ControlRequest,
	type ControlTerms,
	type LimitBounds,
	createInsight,
	type InsightOptions,
	type ExpectedDecision,
	type Explanation,
	type PolicyExplanation,
	type ExplainOptions,
	type Insight,
	type BanSnapshot,
	type CapPrioritySnapshot,
	type CapReasonSnapshot,
	type CapSnapshot,
	type CapTimelineSnapshot,
	type ObjectiveSnapshot,
	type PercentilesSnapshot,
	type ShedPrioritySnapshot,
	type ShedSnapshot,
	type TimelineSnapshot,
	type BackendSnapshot,
	type CapSeriesSnapshot,
	type DenialSnapshot,
	type EventSnapshot,
	type HistorySnapshot,
	type InsightSnapshot,
	type MeasuredSample,
	type MovedUnitsSnapshot,
	type NearestSnapshot,
	type OutcomesSnapshot,
	type PolicySeriesSnapshot,
	type PolicySnapshot,
	type ProcessSnapshot,
	type RateSnapshot,
	type RouteDaySnapshot,
	type RouteSnapshot,
	type RouteUniquesSnapshot,
	type SnapshotOutcome,
	type SourceSnapshot,
	type TopKeySnapshot,
	type UniqueDaySnapshot,
	type UniquesSnapshot,
	type ValuedSample,
	type UniqueRegisters,
	type UniqueStore,
	type UniqueOptions,
	type DenialLogger,
	type LogObserverOptions,
	logObserver,
	type OtelSpansOptions,
	type OtelTrace,
	otelSpans,
	metricsHandler,
	type OtelMeter,
	type OtelMetricsOptions,
	otelMetrics,
	type PromClientOptions,
	type PromClientRegister,
	promClientMetrics,
	type Dashboard,
	type DashboardOptions,
	dashboard,
	type FastifyPlugin,
	type KoaMiddleware,
	type PageHandler,
	type Privacy
}
export { type CapHandle as CapHandle } from '@sluice/limiter-core'
export { type Decision as Decision } from '@sluice/limiter-core'
export { type Metric as Metric } from '@sluice/limiter-core'
export { type ObservedCap as ObservedCap } from '@sluice/limiter-core'
export { type ObservedLimiter as ObservedLimiter } from '@sluice/limiter-core'
export { type ObservedRequest as ObservedRequest } from '@sluice/limiter-core'
export { type Observer as Observer } from '@sluice/limiter-core'
export { type ObserverEvent as ObserverEvent } from '@sluice/limiter-core'
export { type Policy as Policy } from '@sluice/limiter-core'
