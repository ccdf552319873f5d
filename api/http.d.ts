// index.d.ts
import {
	CollapsedClients,
	Clock,
	RequestView,
	Decision,
	MaybePromise,
	Duration,
	HeaderLine,
	Observers,
	SluiceCode,
	OpenPolicy,
	KeySource,
	DENY,
	EXEMPT,
	HeaderPlan,
	Mode,
	HttpDenial,
	Observer,
	Backend,
	PolicyLimiter,
	Policy,
	ReportFallback,
	LimiterHold,
	HeaderEntry,
	Permit,
	SluiceError,
	BackedInflightLimiter,
	LimiterIdentity,
	FailoverRule,
	Moment,
	OptionPlaces,
	PermitOutcome,
	Answer
} from '@sluice/limiter-core/http'
import { Priority as Priority$1, Clock as Clock$1 } from '@sluice/limiter-core'
import {
	ProxyTrust,
	ProxyTrustOption,
	ClientExplanation,
	ExplainClientOptions,
	RequestSluice,
	RequestHold,
	RequestPolicy,
	LimitHook,
	WindowHook,
	SettleHook,
	SettleContext,
	SkipHook,
	RateLimitOptions,
	OnePolicyOptions,
	DenialBody,
	DeniedContext,
	HeaderOptions,
	PartitionKeyOptions,
	ChangingPolicies,
	PreparedPolicies,
	InflightLimitOptions,
	ShedOptions,
	CheckHealth,
	Shedder,
	ShedSignal,
	Refusal,
	SlowDownOptions,
	SluiceOptions,
	LimiterFactories,
	Sluice
} from './types.js'
interface ClientSource {
	readonly ip: string | undefined
	readonly peer?: string | undefined
	readonly link?: 'unix' | 'aws-alb' | undefined
	headerText(name: string): string | undefined
}

declare class CollapseDetector {
	#private
	constructor(reporter: CollapseReporter, clock?: Pick<Clock, 'now'>)
	see(address: string, source: ClientSource, proxies?: TrustedProxies): void
	reset(): void
}

interface CollapseReporter {
	collapsed(found: CollapsedClients): void
	unproven(found: UnprovenProxy): void
}

interface UnprovenProxy {
	readonly address: string
	readonly proxy: string
	readonly header: string
}

declare class TrustedProxies {
	#private
	readonly entries: readonly ProxyTrust[]
	readonly text: string
	constructor(option: ProxyTrustOption, isTrial?: boolean)
	addressOf(source: ClientSource, steps?: Hop[]): string | undefined
	hasProven(name: string): boolean
}

interface Hop {
	readonly from: string
	readonly proxy: string
	readonly header: string
	readonly to: string | undefined
}

declare const collapseDetector: CollapseDetector

declare function explainSource(
	source: ClientSource,
	options?: ExplainClientOptions,
	setting?: string
): ClientExplanation
declare function isUnixSocket(socket: unknown): boolean

declare function isOfRegularResponse(name: string): boolean

declare function writeDenialHead(exchange: AnyExchange, denial: HttpDenial, lines: readonly HeaderLine[]): void

type AnyExchange = HttpExchange<unknown, unknown>

interface HttpExchange<Req, Res> extends RequestView<Req> {
	readonly link?: 'unix' | 'aws-alb' | undefined
	readonly res: Res
	readonly life: RequestLife
	readonly headers: {
		readonly origin?: string | undefined
	}
	headerText(name: string): string | undefined
	readonly isAnswered: boolean
	readonly hasEnded: boolean
	readonly headerNames: readonly string[]
	getHeader(name: string): unknown
	setHeader(name: string, value: string): void
	setLines(lines: readonly HeaderLine[]): boolean
	removeHeader(name: string): void
	setStatus(status: number): void
	undoStatus?(status: number): void
	refuseBody?(): void
	send(denial: HttpDenial): void
	sendReturned(returned: unknown): void
	abort?(): boolean
	readonly cutOff?: (lastEvent: string) => void
}

declare abstract class RequestLife extends RequestRecord {
	#private
	settled: Promise<unknown>
	abstract get gone(): boolean
	protected abstract listen(isPresent?: boolean): boolean
	protected get ended(): boolean
	onEnd(run: (ending: Ending) => void): void
	settleAtEnd(req: unknown, res: unknown): void
	protected reference(target: unknown): () => unknown
	holdPermit(held: HeldPermit, isPresent?: boolean): boolean
	holdUntil(work: PromiseLike<unknown>): void
	protected endAs(ending: Ending): void
}

declare abstract class RequestRecord implements RequestSluice {
	#private
	shownLines: readonly HeaderLine[]
	get decisions(): readonly Decision[]
	get decision(): Decision | undefined
	charge(units: number, policy?: string): MaybePromise<void>
	refund(policy?: string): MaybePromise<void>
	reset(policy?: string): MaybePromise<void>
	ban(duration: Duration, policy?: string): MaybePromise<void>
	settle(actual: number, policy?: string): MaybePromise<void>
	extend(units: number, policy?: string): MaybePromise<boolean>
	get hold(): RequestHold | undefined
	used(units: number, policy?: string): MaybePromise<boolean>
	get exhausted(): AbortSignal
	abstract holdUntil(work: PromiseLike<unknown>): void
	protected keepFields(): void
	registerLimiter(limiter: NamedLimiter): boolean
	allowSecondRun(): void
	recordTaken(check: AnyCheck, report: LimiterReport, silent?: boolean): void
	extendWhileStreaming(clock: Clock, cutOff?: (lastEvent: string) => void): void
	namedApart(limiter: NamedLimiter, check: ShownCheck): ShownCheck
	headersFor({ entries, denial }: ShownCheck, wallMs: () => number): readonly HeaderLine[]
	settleAll(request: unknown, response: unknown, how: SettleContext): Promise<void>
}

interface NamedLimiter {
	readonly report: LimiterReport
	readonly shownNames: readonly string[]
}

declare class LimiterReport {
	#private
	readonly observers: Observers
	constructor(observers: Observers, names: () => readonly string[])
	hookFailed(hook: string, error: unknown, then: string): void
	backendFailed(error: unknown, then: string): void
	warnOnce(code: SluiceCode, message: () => string, about?: string): void
}

type AnyCheck = RateCheck<never, never>

interface RateCheck<Req, Res> {
	readonly gate: PlanGate<Req, Res>
	readonly keys: CountedKeys
	readonly costs: readonly number[]
	readonly decision: Decision
	readonly hold?: LimiterHold | undefined
	readonly chargedBeyond?: boolean
	readonly entries: readonly HeaderEntry[]
	readonly denial: HttpDenial | undefined
	readonly responseOptions: RateLimitOptions<Req, Res>
}

interface PlanGate<Req, Res> {
	readonly plan: RatePlan<Req, Res>
	readonly limiter: PolicyLimiter
	readonly parts: readonly PlanPart<Req, Res>[]
	readonly keyOf: readonly number[]
	readonly keyGroups: KeyGroups<Req> | undefined
	readonly fixedCosts: readonly number[] | undefined
	readonly sole: SolePolicy<Req, Res> | undefined
	readonly hasLimits: boolean
	readonly hasWindows: boolean
	readonly exempts: boolean
	readonly settles: boolean
	readonly holds: boolean
	readonly streams: boolean
}

type RatePlan<Req, Res> = readonly PlanPolicy<Req, Res>[]

interface PlanPolicy<Req, Res> extends OpenPolicy {
	readonly input: RequestPolicy<Req, Res>
	readonly key: KeySource<Req>
	readonly cost: CompiledCost<Req, Res>
	readonly limits: RequestLimits<Req> | undefined
	readonly windows: RequestWindows<Req> | undefined
	readonly skip: SkipHook<Req> | undefined
	readonly answer: ResponseSettings<Req, Res>
}

interface CompiledCost<Req, Res> {
	readonly fixed: number | undefined
	readonly of: ((req: Req) => MaybePromise<number>) | undefined
	readonly settle: SettleHook<Req, Res> | undefined
	readonly settleAlways: boolean
	readonly stream?: StreamTerms | undefined
}

interface StreamTerms {
	readonly extendBy: number | undefined
	readonly onExhausted: 'abort' | 'finish'
}

declare class RequestLimits<Req> {
	#private
	constructor(limitOf: LimitHook<Req>, counters: OpenPolicy['counters'])
	of(view: RequestView<Req>, report: LimiterReport, windowMs?: number): MaybePromise<RequestLimit>
}

type RequestLimit = number | typeof DENY | typeof EXEMPT

declare class RequestWindows<Req> {
	#private
	constructor(windowOf: WindowHook<Req>, counters: OpenPolicy['counters'], hasLimits: boolean)
	of(view: RequestView<Req>, report: LimiterReport): MaybePromise<number>
}

interface ResponseSettings<Req, Res> {
	readonly headers: HeaderPlan
	readonly partition: ((key: string) => string) | undefined
	readonly status: number
	readonly options: RateLimitOptions<Req, Res>
}

interface PlanPart<Req, Res> {
	readonly answer: ResponseSettings<Req, Res>
	readonly policies: readonly Policy[]
	readonly members: readonly {
		readonly policy: Policy
		readonly mode: Mode
	}[]
	readonly enforced: ReadonlySet<Policy>
	readonly policyItems: string
	readonly overrides: boolean
}

interface KeyGroups<Req> {
	readonly groups: readonly GroupedPolicies<Req>[]
	readonly others: readonly number[]
}

interface GroupedPolicies<Req> {
	readonly group: KeyGroup<Req>
	readonly indexes: ReadonlyMap<number, number>
}

interface KeyGroup<Raw> {
	placesOf(view: RequestView<Raw>, report: ReportFallback): MaybePromise<readonly number[]>
}

interface SolePolicy<Req, Res> {
	readonly key: RatePlan<Req, Res>[number]['key']
	readonly cost: number
	readonly costs: readonly number[]
	readonly headers: ResponseSettings<Req, Res>['headers']
}

type CountedKeys = readonly (string | undefined)[]

interface ShownCheck {
	readonly entries: readonly HeaderEntry[]
	readonly denial: HttpDenial | undefined
}

type Ending = SettleContext

interface HeldPermit {
	readonly permit: Permit
	readonly report: LimiterReport
	readonly afterUsualTime?: ((release: () => void) => void) | undefined
}

interface DeniedRequest<Req, Res> extends DeniedContext {
	readonly lines: readonly HeaderLine[]
	readonly answer: AnswerOptions<Req, Res>
	readonly report: LimiterReport
}

interface AnswerOptions<Req, Res> extends Pick<RateLimitOptions<Req, Res>, 'denied' | 'message'> {
	readonly next?: boolean | undefined
}

interface DenialError extends SluiceError {
	status: number
	statusCode: number
	expose: boolean
	headers: Record<string, string>
	body?: DenialBody
}

type PassError = (error: unknown, denial?: HttpDenial) => void

declare function sendDenial<Req, Res>(
	exchange: HttpExchange<Req, Res>,
	refusal: DeniedRequest<Req, Res>,
	passError?: PassError
): MaybePromise<void>

declare function sendDenialBody<Req, Res>(
	exchange: HttpExchange<Req, Res>,
	refusal: DeniedRequest<Req, Res>,
	passError?: PassError
): MaybePromise<void>

declare function capEntry(plan: HeaderPlan, name: string, limit: number): HeaderEntry

type CapCheck =
	| (HeldPermit & {
			readonly denial?: undefined
	  })
	| {
			readonly permit?: undefined
			readonly denial: HttpDenial
			readonly entry: HeaderEntry
	  }

declare class InflightGate<Req, Res> {
	#private
	readonly options: InflightLimitOptions<Req, Res>
	readonly limiter: BackedInflightLimiter
	readonly mode: Mode
	readonly shownNames: readonly string[]
	readonly report: LimiterReport
	constructor(options: InflightLimitOptions<Req, Res>, adapterOptions?: readonly string[], routeScope?: string)
	below(options: InflightLimitOptions<Req, Res>, routeScope?: string): InflightGate<Req, Res>
	get name(): string
	get waits(): boolean
	close(): void
	check(view: RequestView<Req>, signal?: AbortSignal): MaybePromise<CapCheck | undefined>
}

declare function prepareAll(prepares: Iterable<() => PreparedPolicies>): PreparedPolicies

interface GroupedKeySource<Raw> {
	readonly group: KeyGroup<Raw>
	readonly place: number
}

declare function compilePartitionKey(options: PartitionKeyOptions | undefined): ((key: string) => string) | undefined

declare const RATE_LIMIT_OPTIONS: readonly string[]

interface GateOverrides<Req, Res> {
	readonly routeScope?: string | undefined
	readonly observers?: Observers | undefined
	readonly answer?: ResponseSettings<Req, Res> | undefined
	readonly above?:
		| {
				readonly changes: PolicyChanges<RatePlans<Req, Res>> | undefined
		  }
		| undefined
	readonly plans?:
		| ((layer: LayerRules<Req, Res>, inherited: RatePlans<Req, Res> | undefined) => RatePlans<Req, Res>)
		| undefined
}

declare class PolicyChanges<Policies> {
	#private
	static of<Req, Res, Policies, Plans extends Replaceable<Policies>>(
		gate: ChangingGate<Policies, Plans>,
		own: ChangingPolicies<Req, Res> | undefined,
		above: PolicyChanges<Policies> | undefined
	): PolicyChanges<Policies> | undefined
	static identityFor(own: object | undefined, above: object | undefined): LimiterIdentity | undefined
	close(): void
}

interface Replaceable<Policies> {
	readonly policies: Policies
	close(): void
}

interface ChangingGate<Policies, Plans extends Replaceable<Policies>> {
	readonly observers: Observers
	open(inherited: Policies | undefined): Plans
	use(plans: Plans): void
}

type RatePlans<Req, Res> = ReadonlyMap<string, RatePlan<Req, Res>>

interface LayerRules<Req, Res> {
	readonly answer: ResponseSettings<Req, Res>
	readonly failover: FailoverRule
	readonly identity?: LimiterIdentity | undefined
	readonly routeScope?: string | undefined
}

declare class RateGate<Req, Res> {
	#private
	readonly options: RateLimitOptions<Req, Res>
	readonly adapterOptions: readonly string[]
	readonly observers: Observers
	readonly report: LimiterReport
	readonly answer: ResponseSettings<Req, Res>
	shownNames: readonly string[]
	readonly changes: PolicyChanges<RatePlans<Req, Res>> | undefined
	constructor(options: RateLimitOptions<Req, Res>, adapterOptions?: readonly string[], part?: GateOverrides<Req, Res>)
	get isOff(): boolean
	get policies(): RatePlans<Req, Res>
	limiter(plan?: string): PolicyLimiter
	nested(layer: RateLayer<Req, Res>): RateGate<Req, Res>
	extended(layer: RateLayer<Req, Res>, above: RateGate<Req, Res> | undefined): RateGate<Req, Res>
	check(view: RequestView<Req>, requested?: Moment): Checked<Req, Res>
	close(): void
}

interface RateLayer<Req, Res> {
	readonly options?: RateLimitOptions<Req, Res> | undefined
	readonly without?: readonly string[] | undefined
	readonly routeScope: string
}

type Checked<Req, Res> = MaybePromise<RateCheck<Req, Res> | undefined>

declare function scopeOfPart(
	above: string | undefined,
	options: {
		readonly scope?: string | undefined
	} | null,
	routeScope: string
): string | undefined

interface ShedCheck {
	readonly denial: HttpDenial
}

declare class ShedGate<Req, Res> {
	#private
	readonly options: ShedOptions<Req, Res>
	readonly name: string
	readonly mode: Mode
	readonly shownNames: readonly string[]
	readonly report: LimiterReport
	readonly shedder: HealthShedder
	constructor(options: ShedOptions<Req, Res>, adapterOptions?: readonly string[], shedder?: HealthShedder)
	below(options: ShedOptions<Req, Res>): ShedGate<Req, Res>
	close(): void
	check(view: RequestView<Req>): MaybePromise<ShedCheck | undefined>
}

declare class HealthShedder implements Shedder {
	#private
	constructor(rules: ShedderRules, meters?: RuntimeMeters)
	get pressure(): number
	get signal(): ShedSignal | undefined
	probability(priority?: Priority$1): number
	admits(priority?: Priority$1): boolean
	check(priority: Priority$1 | undefined, isShadow?: boolean): Refusal | undefined
	close(): void
}

interface ShedderRules {
	readonly eventLoopDelayMs: SignalRange | undefined
	readonly eventLoopUtilization: SignalRange | undefined
	readonly heapUsed: SignalRange | undefined
	readonly rss: SignalRange | undefined
	readonly health: CheckHealth | undefined
	readonly healthEveryMs: number
	readonly clock: Clock$1
	readonly random: () => number
}
interface SignalRange {
	readonly from: number
	readonly to: number
}

interface RuntimeMeters {
	loopTimes?(): LoopTimes
	heapUsed?(): number
	rss?(): number
}
interface LoopTimes {
	readonly idle: number
	readonly active: number
}

interface SlowCheck<Req, Res> extends RateCheck<Req, Res> {
	readonly delayMs: number
	readonly shadow: boolean
}

declare class SlowDownGate<Req, Res> {
	#private
	readonly options: SlowDownOptions<Req, Res>
	readonly maxWaiting: number
	readonly mode: Mode
	readonly name: string
	readonly shownNames: readonly string[]
	readonly rate: RateGate<Req, Res>
	constructor(options: SlowDownOptions<Req, Res>, adapterOptions?: readonly string[], routeScope?: string)
	below(options: SlowDownOptions<Req, Res>, routeScope: string): SlowDownGate<Req, Res>
	get report(): LimiterReport
	check(view: RequestView<Req>, moment?: Moment): MaybePromise<SlowCheck<Req, Res> | undefined>
	denial(delayMs: number): HttpDenial
	refund(check: SlowCheck<Req, Res>): void
}

declare function compileHeaders(options: HeaderOptions): HeaderPlan

declare function errorAt(location: string, error: unknown): SluiceError

interface LayerOptions<Req, Res, Extra = unknown> {
	readonly rateLimit?: (PartRateLimitOptions<Req, Res> & Extra) | false | undefined
	readonly shed?: (ShedOptions<Req, Res> & Extra) | false | undefined
	readonly slowDown?: (SlowDownOptions<Req, Res> & Extra) | false | undefined
	readonly inflightLimit?: (InflightLimitOptions<Req, Res> & Extra) | false | undefined
	readonly skipLimits?: readonly string[] | true | undefined
}

type PartRateLimitOptions<Req = unknown, Res = unknown> =
	| RateLimitOptions<Req, Res>
	| (Omit<OnePolicyOptions<Req, Res>, 'limit' | 'window'> &
			Partial<Pick<OnePolicyOptions<Req, Res>, 'limit' | 'window'>>)

declare class LimitLayer<Req, Res> {
	#private
	readonly limits: readonly HttpLimit<Req, Res>[]
	static root<Req, Res>(adapterOptions?: readonly string[], shared?: SharedOptions): LimitLayer<Req, Res>
	private constructor()
	get rates(): readonly HttpLimit<Req, Res>[]
	get caps(): readonly HttpInflightLimit<Req, Res>[]
	extend(options: LayerOptions<Req, Res>, routeScope: string, above?: LimitLayer<Req, Res>): LimitLayer<Req, Res>
	close(): void
	releaseDelayed(): void
}

interface HttpLimit<Req, Res> {
	readonly holdUntil?: 'response' | 'handler' | undefined
	readonly report: LimiterReport
	admit(exchange: HttpExchange<Req, Res>): MaybePromise<Admission<Req, Res>>
	close(): void
}

type Admission<Req, Res> = 'passed' | 'held' | 'gone' | DeniedRequest<Req, Res>

interface SharedOptions {
	withBackend<T extends Watchable>(options: T): T
	withObservers<T extends Watchable>(options: T): T
}

interface Watchable {
	readonly observers?: readonly Observer[] | undefined
}

declare class HttpInflightLimit<Req, Res> extends GatedLimit<Req, Res, InflightGate<Req, Res>, CapCheck> {
	constructor(gate: InflightGate<Req, Res>)
	static of<Req, Res>(
		options: InflightLimitOptions<Req, Res>,
		adapterOptions?: readonly string[]
	): HttpInflightLimit<Req, Res>
	get holdUntil(): 'response' | 'handler' | undefined
	close(): void
	protected check(view: RequestView<Req>, exchange: HttpExchange<Req, Res>): MaybePromise<CapCheck | undefined>
	protected toAdmission(check: CapCheck, { life }: HttpExchange<Req, Res>, isSynchronous?: boolean): Admission<Req, Res>
}

declare abstract class GatedLimit<Req, Res, Gate extends RequestGate<Req, Check>, Check extends object>
	implements HttpLimit<Req, Res>
{
	#private
	readonly gate: Gate
	readonly report: LimiterReport
	constructor(gate: Gate, { off, holds }: GatedLimitOptions)
	admit(exchange: HttpExchange<Req, Res>): MaybePromise<Admission<Req, Res>>
	abstract close(): void
	protected check(view: RequestView<Req>, _exchange: HttpExchange<Req, Res>): MaybePromise<Check | undefined>
	protected abstract toAdmission(
		check: Check,
		exchange: HttpExchange<Req, Res>,
		isSynchronous?: boolean
	): MaybePromise<Admission<Req, Res>>
}

interface RequestGate<Req, Check> {
	readonly options: {
		readonly trust?: ProxyTrustOption | undefined
	}
	readonly report: LimiterReport
	readonly shownNames: readonly string[]
	check(view: RequestView<Req>): MaybePromise<Check | undefined>
}

interface GatedLimitOptions {
	readonly off: boolean
	readonly holds?: boolean | undefined
}

declare const LIMIT_PLACES: OptionPlaces
interface Carrier {
	prependOnceListener(event: 'close', listener: () => void): unknown
}

declare function onCarrierClose(
	carrier: Carrier & {
		[waiting]?: Set<() => void>
	},
	run: () => void
): () => void

declare const waiting: unique symbol

declare function releasePermit({ permit, report }: HeldPermit, outcome: PermitOutcome): void

declare function weakly<T extends object>(target: T): () => T | undefined
declare function whenCollected(target: object, run: () => void): void

declare function admitAll<Req, Res>(
	limits: readonly HttpLimit<Req, Res>[],
	exchange: HttpExchange<Req, Res>,
	from?: number,
	held?: boolean
): MaybePromise<Admission<Req, Res>>

declare function isDeniedRequest<Req, Res>(admission: Admission<Req, Res>): admission is DeniedRequest<Req, Res>

declare class HttpRateLimit<Req, Res> extends GatedLimit<Req, Res, RateGate<Req, Res>, RateCheck<Req, Res>> {
	#private
	constructor(gate: RateGate<Req, Res>)
	static of<Req, Res>(options: RateLimitOptions<Req, Res>, adapterOptions?: readonly string[]): HttpRateLimit<Req, Res>
	idle(): Promise<void>
	close(): void
	protected toAdmission(check: RateCheck<Req, Res>, exchange: HttpExchange<Req, Res>): Admission<Req, Res>
}

declare class HttpShed<Req, Res> extends GatedLimit<Req, Res, ShedGate<Req, Res>, ShedCheck> {
	constructor(gate: ShedGate<Req, Res>)
	static of<Req, Res>(options?: ShedOptions<Req, Res>, adapterOptions?: readonly string[]): HttpShed<Req, Res>
	close(): void
	protected toAdmission({ denial }: ShedCheck, _exchange: HttpExchange<Req, Res>): Admission<Req, Res>
}

declare class HttpSlowDown<Req, Res> extends GatedLimit<Req, Res, SlowDownGate<Req, Res>, SlowCheck<Req, Res>> {
	#private
	constructor(gate: SlowDownGate<Req, Res>)
	static of<Req, Res>(options: SlowDownOptions<Req, Res>, adapterOptions?: readonly string[]): HttpSlowDown<Req, Res>
	get waiting(): number
	releaseDelayed(): void
	close(): void
	protected toAdmission(check: SlowCheck<Req, Res>, exchange: HttpExchange<Req, Res>): MaybePromise<Admission<Req, Res>>
}

declare class InHandlerDetector {
	#private
	isWatching: boolean
	static suppress<T>(build: () => T): T
	constructor()
	recordUse(exchange: HttpExchange<unknown, unknown>): void
}

declare function compileSharedOptions(options: SluiceOptions<Backend>): SharedOptions

declare function createSluiceFor<Req, Res, Mounted extends object, Extra = unknown>(
	mount: Mount<Req, Res, Mounted>,
	adapterOptions?: readonly string[]
): Limiters<Req, Res, Mounted, Extra>['createSluice']

type Mount<Req, Res, Mounted> = (limit: HttpLimit<Req, Res>) => Mounted

interface Limiters<Req, Res, Mounted, Extra = unknown> extends LimiterFactories<Req, Res, Mounted, Extra> {
	createSluice<B extends Backend = Backend<Answer>>(options?: SluiceOptions<B>): Sluice<Req, Res, Mounted, Extra, B>
}

declare function inflightLimitFor<Req, Res, Mounted extends object, Extra = unknown>(
	mount: Mount<Req, Res, Mounted>,
	adapterOptions?: readonly string[]
): LimiterFactories<Req, Res, Mounted, Extra>['inflightLimit']

declare function limitersFor<Req, Res, Mounted extends object, Extra = unknown>(
	mount: Mount<Req, Res, Mounted>,
	adapterOptions?: readonly string[]
): Limiters<Req, Res, Mounted, Extra>

declare function rateLimitFor<Req, Res, Mounted extends object, Extra = unknown>(
	mount: Mount<Req, Res, Mounted>,
	adapterOptions?: readonly string[]
): LimiterFactories<Req, Res, Mounted, Extra>['rateLimit']

declare const SLUICE_OPTIONS: readonly (keyof SluiceOptions)[]

declare function shedFor<Req, Res, Mounted extends object, Extra = unknown>(
	mount: Mount<Req, Res, Mounted>,
	adapterOptions?: readonly string[]
): LimiterFactories<Req, Res, Mounted, Extra>['shed']

declare function slowDownFor<Req, Res, Mounted extends object, Extra = unknown>(
	mount: Mount<Req, Res, Mounted>,
	adapterOptions?: readonly string[]
): LimiterFactories<Req, Res, Mounted, Extra>['slowDown']

declare function rejectDecorator<T extends Maker>(decoratorOf: T, word: string, mounting: Mounting): T

type Maker = (...args: readonly never[]) => unknown
interface Mounting {
	readonly method: string
	readonly properties: readonly PropertyKey[]
}

declare function rejectMounted<T>(made: T, { method, properties }: Mounting, expected: string, received: string): T

declare function rejectUncalled<T extends object>(makers: T, mounting: Mounting): T

interface FieldChanges {
	readonly removed: readonly string[]
	readonly added: readonly HeaderLine[]
}

declare function isForeignField(name: string, value: unknown, ours: readonly HeaderLine[]): boolean

declare function isLimitField(name: string): boolean

declare function limitFieldChanges(
	status: number,
	names: readonly string[],
	read: (name: string) => unknown,
	ours: readonly HeaderLine[]
): FieldChanges | undefined

declare function vendorLines(
	entries: readonly HeaderEntry[],
	denial: HttpDenial | undefined,
	wallMs: () => number
): readonly HeaderLine[]

declare function reportUnlessPreflight(view: RequestView, report: LimiterReport): LimiterReport | undefined
declare function routeMethod(methods: readonly string[]): string
export {
	type ProxyPreset,
	type PresetInRanges,
	type TrustedProxy,
	type ProxyTrust,
	type ProxyTrustOption,
	type ClientExplanation,
	type ExplainClientOptions,
	type ChangingPolicies,
	type PolicyFollower,
	type PreparedPolicies,
	type CostSource,
	type SettleContext,
	type DenialBody,
	type DenialMessage,
	type DeniedContext,
	type DeniedHook,
	type InflightLimitOptions,
	type RateLimitOptions,
	type RequestPolicy,
	type RequestSluice,
	type ShedOptions,
	type SlowDownOptions,
	type HeaderDialect,
	type HeaderOptions,
	type InflightHandle,
	type RateHandle,
	type ShedHandle,
	type SlowDownHandle,
	type LimiterFactories,
	type Sluice,
	type SluiceOptions
} from './types.js'
export {
	type ClientSource,
	CollapseDetector,
	type CollapseReporter,
	type UnprovenProxy,
	collapseDetector,
	explainSource,
	isUnixSocket,
	isOfRegularResponse,
	writeDenialHead,
	type DeniedRequest,
	type DenialError,
	type PassError,
	sendDenial,
	sendDenialBody,
	type HttpExchange,
	capEntry,
	type CapCheck,
	InflightGate,
	prepareAll,
	type GroupedKeySource,
	type KeyGroup,
	compilePartitionKey,
	RATE_LIMIT_OPTIONS,
	type GateOverrides,
	type RateCheck,
	RateGate,
	type RateLayer,
	scopeOfPart,
	type ShedCheck,
	ShedGate,
	type SlowCheck,
	SlowDownGate,
	compileHeaders,
	errorAt,
	type LayerOptions,
	LimitLayer,
	LIMIT_PLACES,
	type Carrier,
	onCarrierClose,
	releasePermit,
	type Ending,
	RequestLife,
	weakly,
	whenCollected,
	admitAll,
	HttpInflightLimit,
	type Admission,
	type HttpLimit,
	isDeniedRequest,
	HttpRateLimit,
	HttpShed,
	HttpSlowDown,
	InHandlerDetector,
	compileSharedOptions,
	createSluiceFor,
	inflightLimitFor,
	type Limiters,
	limitersFor,
	rateLimitFor,
	type SharedOptions,
	SLUICE_OPTIONS,
	shedFor,
	slowDownFor,
	rejectDecorator,
	rejectMounted,
	rejectUncalled,
	type FieldChanges,
	isForeignField,
	isLimitField,
	limitFieldChanges,
	vendorLines,
	LimiterReport,
	reportUnlessPreflight,
	routeMethod
}
export * from '@sluice/limiter-core/http'

// login/index.d.ts
import { Clock, Duration, Observer, FailoverOptions, Backend } from '@sluice/limiter-core/http'
import {
	Duration as Duration$1,
	MaybePromise as MaybePromise$1,
	Clock as Clock$1,
	FailoverOptions as FailoverOptions$1,
	Backend as Backend$1,
	Observer as Observer$1
} from '@sluice/limiter-core'

interface AllowedLogin {
	readonly outcome: 'allow'
	readonly known: boolean
	succeeded(changed?: { readonly version: string }): Promise<string | undefined>
}

interface ChallengedLogin {
	readonly outcome: 'challenge'
	readonly reason: LoginReason
	readonly retryAfterMs: number
	readonly challenge: ProofChallenge | undefined
}

type LoginReason = 'account' | 'address' | 'network' | 'device' | 'pressure' | 'slow-pressure' | 'solved'

interface ProofChallenge {
	readonly text: string
	readonly bits: number
	readonly expiresAfterMs: number
}

interface DeniedLogin {
	readonly outcome: 'deny'
	readonly reason: LoginReason
	readonly retryAfterMs: number
}

type LoginAttempt = AllowedLogin | ChallengedLogin | DeniedLogin

interface FailureLimit {
	readonly limit: number
	readonly window: Duration$1
}

interface FailureLimits {
	readonly challenge?: FailureLimit | undefined
	readonly deny?: FailureLimit | undefined
}

type LoginCheck = (request: LoginRequest) => MaybePromise$1<boolean>

interface LoginRequest {
	readonly account: string | undefined
	readonly address: string | undefined
	readonly device?: unknown
	readonly version?: string | undefined
	readonly proof?: unknown
	readonly token?: unknown
}

interface LoginOptions extends FailoverOptions$1 {
	readonly secret: string | readonly string[]
	readonly name?: string | undefined
	readonly account?: FailureLimits | undefined
	readonly address?: FailureLimits | undefined
	readonly networks?: readonly string[] | undefined
	readonly network?: FailureLimits | undefined
	readonly device?: FailureLimit | undefined
	readonly pressure?: FailureLimit | undefined
	readonly slowPressure?: FailureLimit | undefined
	readonly usualFailures?: number | undefined
	readonly deviceTtl?: Duration$1 | undefined
	readonly challenge?: LoginProofOptions | LoginCheck | undefined
	readonly backend?: Backend$1 | undefined
	readonly scope?: string | undefined
	readonly clock?: Clock$1 | undefined
	readonly observers?: readonly Observer$1[] | undefined
}

interface LoginProofOptions extends ProofOptions {
	readonly check?: LoginCheck | undefined
}

interface ProofOptions {
	readonly bits?: number | undefined
	readonly maxBits?: number | undefined
	readonly ttl?: Duration | undefined
}

interface ProofOfWork {
	challenge(key: string | undefined, pressure?: number): ProofChallenge
	verify(answer: unknown, key: string | undefined): Promise<boolean>
	close(): void
}

interface ProofOfWorkOptions extends ProofOptions, FailoverOptions {
	readonly secret: string | readonly string[]
	readonly name?: string | undefined
	readonly backend?: Backend | undefined
	readonly scope?: string | undefined
	readonly clock?: Clock | undefined
	readonly observers?: readonly Observer[] | undefined
}

declare function proofOfWork(options: ProofOfWorkOptions): ProofOfWork

interface ProofFieldOptions {
	readonly challenge: ProofChallenge
	readonly nonce?: string | undefined
}

interface ProofPageOptions extends ProofFieldOptions {
	readonly action?: string | undefined
	readonly fields?: Readonly<Record<string, string>> | undefined
	readonly lang?: string | undefined
	readonly title?: string | undefined
	readonly noScript?: string | undefined
}

declare function proofField({ challenge: { text, bits }, nonce }: ProofFieldOptions): string

declare function proofPage(options: ProofPageOptions): string

interface LoginProtection {
	attempt(request: LoginRequest): Promise<LoginAttempt>
	taskFor(address: string | undefined): Promise<ProofChallenge | undefined>
	close(): void
}

declare function protectLogin(options: LoginOptions): LoginProtection
export {
	type AllowedLogin,
	type ChallengedLogin,
	type DeniedLogin,
	type LoginAttempt,
	type LoginReason,
	type FailureLimit,
	type FailureLimits,
	type LoginCheck,
	type LoginOptions,
	type LoginProofOptions,
	type LoginRequest,
	type ProofOfWork,
	type ProofOfWorkOptions,
	type ProofOptions,
	proofOfWork,
	type ProofFieldOptions,
	type ProofPageOptions,
	proofField,
	proofPage,
	type LoginProtection,
	protectLogin,
	type ProofChallenge
}

// overload.d.ts
import { Priority as Priority$1, Clock as Clock$1, InflightBackend as InflightBackend$1 } from '@sluice/limiter-core'
import { QueueOptions, Prioritizer, ShedSignals, Shedder } from './types.js'

declare function createShedder(options?: ShedderOptions): Shedder

interface ShedderOptions extends ShedSignals {
	readonly clock?: Partial<Clock$1> | undefined
	readonly random?: (() => number) | undefined
}

declare function levelOf(priority: Priority$1 | undefined, cohort: number): number

interface PrioritizedInflightOptions {
	readonly queue?: QueueOptions | undefined
	readonly prioritizer?: Prioritizer | undefined
	readonly clock?: Clock$1 | undefined
}

declare function prioritizedInflight(options?: PrioritizedInflightOptions): InflightBackend$1

declare function createPrioritizer({ clock }?: { readonly clock?: Clock$1 | undefined }): Prioritizer

interface Waiter {
	readonly level: number
	readonly weight: number
	admit(): void
	refuse(reason: 'queue-full' | 'timeout' | 'weight'): void
}

declare class WaitingRoom<W extends Waiter = Waiter> {
	#private
	constructor(options: WaitingRoomOptions, clock: Clock$1)
	get size(): number
	add(waiter: W, since?: number): () => void
	next(free: number, limit: number): W | undefined
	get level(): number
	close(): void
}

interface WaitingRoomOptions {
	readonly max: number
	readonly maxWaitMs: number
	readonly isPatient?: boolean | undefined
}

declare function steadyClock(clock: Clock$1): Clock$1
export {
	type CheckHealth,
	type ShedSignal,
	type Shedder,
	type ShedSignals,
	type SignalThreshold,
	type QueueOptions,
	type Prioritizer
} from './types.js'
export {
	createShedder,
	type ShedderOptions,
	levelOf,
	type PrioritizedInflightOptions,
	prioritizedInflight,
	createPrioritizer,
	type Waiter,
	WaitingRoom,
	steadyClock
}

// shared-exports.d.ts
interface EmailKeyOptions {
	readonly plusTags: IgnoredPart
	readonly dots: IgnoredPart
}
type IgnoredPart = 'keep' | 'ignore' | readonly string[]

declare function emailKey(options: EmailKeyOptions): (address: unknown) => string | undefined
export {
	type ProxyPreset,
	type PresetInRanges,
	type TrustedProxy,
	type ProxyTrust,
	type ProxyTrustOption,
	type ClientExplanation,
	type ExplainClientOptions,
	type CostSource,
	type CountOnly,
	type ReservedCost,
	type SettleContext,
	type StreamedCost,
	type DeniedContext,
	type DeniedHook,
	type InflightLimitOptions,
	type PartitionKeyOptions,
	type OnePolicyOptions,
	type PlansOptions,
	type PoliciesOptions,
	type RateLimitOptions,
	type SharedRateLimitOptions,
	type RequestPolicy,
	type RequestHold,
	type RequestSluice,
	type ShedOptions,
	type SlowDownOptions,
	type HeaderDialect,
	type HeaderOptions,
	type InflightHandle,
	type RateHandle,
	type ShedHandle,
	type SlowDownHandle,
	type LimiterFactories,
	type Sluice,
	type SluiceOptions,
	type Refusal,
	type Shedder
} from './types.js'
export { type EmailKeyOptions, emailKey, type IgnoredPart }
export * from '@sluice/limiter-core'

// types.d.ts
import {
	Clock,
	Decision,
	MaybePromise,
	Duration,
	PolicyInput,
	RequestHook,
	KeySource,
	Mode,
	HttpDenial,
	Observer,
	Vendor,
	FailoverOptions,
	Backend,
	AdaptiveLimit,
	Priority,
	InflightBackend,
	Answer
} from '@sluice/limiter-core/http'
import {
	Duration as Duration$1,
	MaybePromise as MaybePromise$1,
	Priority as Priority$1,
	InflightLimiter,
	Limiter,
	LimiterOptions,
	OnePolicyLimiterOptions
} from '@sluice/limiter-core'
type ProxyPreset =
	| 'cloudflare'
	| 'fastly'
	| 'fly'
	| 'vercel'
	| 'aws-alb'
	| 'aws-cloudfront'
	| 'gcp-lb'
	| 'azure-front-door'
	| 'azure-app-gateway'
	| 'heroku'
	| 'render'
	| 'railway'
	| 'cloud-run'
	| 'nginx'
	| 'traefik'
	| 'k8s-ingress'

interface PresetInRanges {
	readonly preset: ProxyPreset
	readonly ranges: readonly string[]
}

interface TrustedProxy {
	readonly ranges: readonly string[]
	readonly header: string
	readonly hops?: number | undefined
}

type ProxyTrust = ProxyPreset | PresetInRanges | TrustedProxy

type ProxyTrustOption = ProxyTrust | readonly ProxyTrust[]

interface ClientExplanation {
	readonly address: string | undefined
	readonly key: string
	readonly peer: string | undefined
	readonly decidedBy: 'trust' | 'framework' | 'peer'
	readonly text: string
}

interface ExplainClientOptions {
	readonly trust?: ProxyTrustOption | undefined
}

interface RequestSluice {
	readonly decisions: readonly Decision[]
	readonly decision: Decision | undefined
	charge(units: number, policy?: string): MaybePromise<void>
	refund(policy?: string): MaybePromise<void>
	reset(policy?: string): MaybePromise<void>
	ban(duration: Duration, policy?: string): MaybePromise<void>
	settle(actual: number, policy?: string): MaybePromise<void>
	readonly hold: RequestHold | undefined
	extend(units: number, policy?: string): MaybePromise<boolean>
	used(units: number, policy?: string): MaybePromise<boolean>
	readonly exhausted: AbortSignal
	holdUntil(work: PromiseLike<unknown>): void
}

interface RequestHold {
	extend(units: number, policy?: string): MaybePromise<boolean>
	settle(actual: number, policy?: string): MaybePromise<void>
	release(policy?: string): MaybePromise<void>
}

interface RequestPolicy<Req, Res> extends Omit<PolicyInput, 'limit' | 'window'> {
	readonly limit: number | LimitHook<Req>
	readonly window: Duration | WindowHook<Req>
	readonly key?: KeySource<Req> | undefined
	readonly cost?: CostSource<Req, Res> | undefined
}

type LimitHook<Req> = RequestHook<[req: Req], number>

type WindowHook<Req> = RequestHook<[req: Req], Duration>

type CostSource<Req, Res> = number | RequestHook<[req: Req], number> | ReservedCost<Req, Res> | StreamedCost<Req, Res>

interface ReservedCost<Req, Res> extends Reservation<Req> {
	readonly settle: SettleHook<Req, Res>
	readonly extend?: undefined
}

interface Reservation<Req> {
	readonly reserve: number | RequestHook<[req: Req], number>
	readonly settleOn?: 'completed' | 'always' | undefined
}

type SettleHook<Req, Res> = RequestHook<[req: Req, res: Res, how: SettleContext], number | undefined>

interface SettleContext {
	readonly completed: boolean
	readonly durationMs: number
	readonly status?: number | undefined
	readonly used?: number | undefined
}

interface StreamedCost<Req, Res> extends Reservation<Req> {
	readonly extend: 'stream'
	readonly settle?: SettleHook<Req, Res> | undefined
	readonly extendBy?: number | undefined
	readonly onExhausted?: 'abort' | 'finish' | undefined
}

type SkipHook<Req> = RequestHook<[req: Req], boolean>

type RateLimitOptions<Req = unknown, Res = unknown, Plan extends string = string> =
	| OnePolicyOptions<Req, Res>
	| PoliciesOptions<Req, Res>
	| PlansOptions<Req, Res, Plan>

interface OnePolicyOptions<Req, Res>
	extends SharedRateLimitOptions<Req, Res>,
		Omit<RequestPolicy<Req, Res>, 'key' | 'cost' | 'backend' | 'mode'> {
	readonly policies?: undefined
	readonly plans?: undefined
}

interface SharedRateLimitOptions<Req, Res> extends GateOptions<Req, Res>, HeaderOptions, FailoverOptions {
	readonly key?: KeySource<Req> | undefined
	readonly cost?: CostSource<Req, Res> | undefined
	readonly countOnly?: CountOnly | undefined
	readonly scope?: string | undefined
	readonly shared?: boolean | undefined
	readonly backend?: Backend | undefined
	readonly partitionKey?: PartitionKeyOptions | undefined
	readonly status?: number | undefined
}

interface GateOptions<Req, Res> {
	readonly trust?: ProxyTrustOption | undefined
	readonly skip?: SkipHook<Req> | undefined
	readonly mode?: Mode | undefined
	readonly message?: DenialMessage<Req> | undefined
	readonly denied?: DeniedHook<Req, Res> | undefined
	readonly observers?: readonly Observer[] | undefined
	readonly clock?: Clock | undefined
}

type DenialMessage<Req> = DenialBody | RequestHook<[req: Req, context: DeniedContext], DenialBody>

type DenialBody = string | Readonly<Record<string, unknown>>

interface DeniedContext {
	readonly denial: HttpDenial
	readonly decision: Decision | undefined
}

type DeniedHook<Req, Res> = RequestHook<[req: Req, res: Res, context: DeniedContext], unknown>

interface HeaderOptions {
	readonly headers?: HeaderDialect | 'none' | readonly HeaderDialect[] | undefined
	readonly legacy?:
		| {
				readonly reset: 'epoch' | 'delta'
		  }
		| undefined
	readonly headersOn?: 'all' | 'denied' | undefined
}

type HeaderDialect = ListName | 'draft-6' | 'legacy' | Vendor

type ListName = 'draft' | 'draft-8' | 'draft-11' | 'next'

type CountOnly = 'failures' | 'successes'
interface PartitionKeyOptions {
	readonly secret: string
}

interface PoliciesOptions<Req, Res> extends SharedRateLimitOptions<Req, Res> {
	readonly policies: readonly RequestPolicy<Req, Res>[] | ChangingPolicies<Req, Res>
	readonly plans?: undefined
}

interface ChangingPolicies<Req, Res> {
	readonly current: readonly RequestPolicy<Req, Res>[]
	follow(follower: PolicyFollower): () => void
}

interface PolicyFollower {
	prepare(): PreparedPolicies
	report(source: string, error?: unknown): void
}

interface PreparedPolicies {
	readonly commit: () => void
	readonly discard: () => void
}

interface PlansOptions<Req, Res, Plan extends string = string> extends SharedRateLimitOptions<Req, Res> {
	readonly plans: Plans<Req, Res, Plan>
	readonly plan: RequestHook<[req: Req], NoInfer<Plan> | undefined>
	readonly policies?: undefined
}

type Plans<Req, Res, Plan extends string> = Readonly<Record<Plan, readonly RequestPolicy<Req, Res>[]>>

interface InflightLimitOptions<Req = unknown, Res = unknown>
	extends GateOptions<Req, Res>,
		Pick<HeaderOptions, 'headers'> {
	readonly limit: number | AdaptiveLimit
	readonly name?: string | undefined
	readonly key?: KeySource<Req> | undefined
	readonly status?: number | undefined
	readonly weight?: number | RequestHook<[req: Req], number> | undefined
	readonly priority?: PriorityOption<Req> | undefined
	readonly fairBy?: KeySource<Req> | false | undefined
	readonly workClass?: 'route' | RequestHook<[req: Req], string> | false | undefined
	readonly queue?: QueueOptions | false | undefined
	readonly prioritizer?: Prioritizer | undefined
	readonly maxHoldMs?: Duration | undefined
	readonly holdUntil?: 'response' | 'handler' | undefined
	readonly backend?: InflightBackend | undefined
	readonly shared?: boolean | undefined
}

type PriorityOption<Req> = RequestHook<[req: Req], Priority> | PriorityHeader

interface PriorityHeader {
	readonly header: string
}

interface QueueOptions {
	readonly max: number
	readonly maxWaitMs: Duration$1
}

interface Prioritizer {
	readonly level: number
	readonly isOverloaded: boolean
}

interface ShedOptions<Req = unknown, Res = unknown> extends GateOptions<Req, Res>, ShedSignals {
	readonly name?: string | undefined
	readonly priority?: PriorityOption<Req> | undefined
	readonly status?: number | undefined
}

interface ShedSignals {
	readonly eventLoopDelayMs?: SignalThreshold | false | undefined
	readonly eventLoopUtilization?: SignalThreshold | undefined
	readonly heapUsed?: SignalThreshold | undefined
	readonly rss?: SignalThreshold | undefined
	readonly health?: CheckHealth | undefined
	readonly healthEveryMs?: Duration$1 | undefined
}

type SignalThreshold =
	| number
	| {
			readonly from: number
			readonly to?: number | undefined
	  }

type CheckHealth = () => MaybePromise$1<number | boolean>

interface Shedder {
	admits(priority?: Priority$1): boolean
	probability(priority?: Priority$1): number
	readonly pressure: number
	readonly signal: ShedSignal | undefined
	close(): void
}

type ShedSignal = 'eventLoopDelay' | 'eventLoopUtilization' | 'heapUsed' | 'rss' | 'health'

interface Refusal {
	readonly pressure: number
	readonly probability: number
	readonly signal: ShedSignal
	readonly retryAfterSeconds: number
}

interface SlowDownOptions<Req = unknown, Res = unknown>
	extends Omit<SharedRateLimitOptions<Req, Res>, 'headers' | 'headersOn' | 'legacy' | 'partitionKey'>,
		Pick<PolicyInput, 'window' | 'algorithm' | 'slices' | 'unit'> {
	readonly name?: string | undefined
	readonly after: number
	readonly delayMs: Duration | ((over: number) => number)
	readonly maxDelayMs: Duration
	readonly maxWaiting?: number | undefined
}

interface InflightHandle {
	readonly limiter: InflightLimiter
	close(): void
}

interface RateHandle {
	readonly limiter: Limiter
	idle(): Promise<void>
	close(): void
}

interface ShedHandle {
	readonly shedder: Shedder
	close(): void
}

interface SlowDownHandle {
	readonly limiter: Limiter
	waiting(): number
	close(): void
}

interface SluiceOptions<B extends Backend = Backend<Answer>> extends FailoverOptions {
	readonly backend?: B | undefined
	readonly clock?: Clock | undefined
	readonly trust?: ProxyTrustOption | undefined
	readonly observers?: readonly Observer[] | undefined
}

interface LimiterFactories<Req, Res, Mounted, Extra = unknown> {
	rateLimit<Plan extends string = string>(options: RateLimitOptions<Req, Res, Plan> & Extra): Mounted & RateHandle
	inflightLimit(options: InflightLimitOptions<Req, Res> & Extra): Mounted & InflightHandle
	slowDown(options: SlowDownOptions<Req, Res> & Extra): Mounted & SlowDownHandle
	shed(options?: ShedOptions<Req, Res> & Extra): Mounted & ShedHandle
}

interface Sluice<Req, Res, Mounted, Extra = unknown, B extends Backend = Backend<Answer>>
	extends LimiterFactories<Req, Res, Mounted, Extra> {
	limiter(options: LimiterOptions | OnePolicyLimiterOptions): B extends Backend<Answer> ? Limiter<Decision> : Limiter
}
export {
	ProxyPreset,
	PresetInRanges,
	TrustedProxy,
	ProxyTrust,
	ProxyTrustOption,
	ClientExplanation,
	ExplainClientOptions,
	RequestSluice,
	RequestHold,
	RequestPolicy,
	LimitHook,
	WindowHook,
	CostSource,
	ReservedCost,
	Reservation,
	SettleHook,
	SettleContext,
	StreamedCost,
	SkipHook,
	RateLimitOptions,
	OnePolicyOptions,
	SharedRateLimitOptions,
	GateOptions,
	DenialMessage,
	DenialBody,
	DeniedContext,
	DeniedHook,
	HeaderOptions,
	HeaderDialect,
	ListName,
	CountOnly,
	PartitionKeyOptions,
	PoliciesOptions,
	ChangingPolicies,
	PolicyFollower,
	PreparedPolicies,
	PlansOptions,
	Plans,
	InflightLimitOptions,
	PriorityOption,
	PriorityHeader,
	QueueOptions,
	Prioritizer,
	ShedOptions,
	ShedSignals,
	SignalThreshold,
	CheckHealth,
	Shedder,
	ShedSignal,
	Refusal,
	SlowDownOptions,
	InflightHandle,
	RateHandle,
	ShedHandle,
	SlowDownHandle,
	SluiceOptions,
	LimiterFactories,
	Sluice
}
