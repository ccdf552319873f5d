// budgets/index.d.ts
import {
	Duration as Duration$1,
	MaybePromise as MaybePromise$1,
	Observer as Observer$1,
	Clock,
	Backend as Backend$1,
	SluiceError
} from '@sluice/limiter-core/backend'

interface LearnedCost<Req extends object, Res> {
	readonly reserve: (req: Req) => number
	readonly settle: (req: Req, res: Res, how: Ending) => MaybePromise$1<number | undefined>
	readonly settleOn: 'always'
}

interface Ending {
	readonly completed: boolean
	readonly used?: number | undefined
}

interface LearnedReserve<Req extends object, Res> {
	readonly cost: LearnedCost<Req, Res>
	stats(): ReadonlyMap<string, ReserveStats>
}
interface ReserveStats {
	readonly reserve: number
	readonly requests: number
	readonly underReserved: number
	readonly underReservedShare: number
}

interface LearnedReserveOptions<Req extends object, Res> {
	readonly by?: ((req: Req) => string) | undefined
	readonly settle: (req: Req, res: Res, how: Ending) => MaybePromise$1<number | undefined>
	readonly initial: number
	readonly quantile?: number | undefined
	readonly min?: number | undefined
	readonly max?: number | undefined
	readonly maxClasses?: number | undefined
}

declare function learnedReserve<Req extends object, Res>(
	options: LearnedReserveOptions<Req, Res>
): LearnedReserve<Req, Res>
type Prices = Readonly<Record<string, string>>

interface PriceTable {
	readonly unit: string
	has(item: string, kind?: string): boolean
	costOf(item: string, usage: Usage): number
	amount(decimal: string): number
}

type Usage = Readonly<Record<string, number>>

interface PriceTableOptions {
	readonly currency: string
	readonly per?: number | undefined
	readonly items: Readonly<Record<string, Prices>>
}

declare function priceTable(options: PriceTableOptions): PriceTable

declare function runBudget(options: RunBudgetOptions): RunBudget

interface RunBudgetOptions extends RunBounds {
	readonly id?: string | undefined
	readonly prices?: PriceTable | undefined
	readonly loops?: LoopOptions | undefined
	readonly onExhausted?: OnExhausted | undefined
	readonly maxOutputTokens?: number | undefined
	readonly streamTokens?: number | undefined
	readonly countTokens?: ((text: string) => number) | undefined
	readonly signal?: AbortSignal | undefined
	readonly backend?: Backend$1 | undefined
	readonly deadlineMs?: Duration$1 | undefined
	readonly maxHoldMs?: Duration$1 | undefined
	readonly keepMs?: Duration$1 | undefined
	readonly clock?: Clock | undefined
	readonly observers?: readonly Observer$1[] | undefined
}

interface RunBounds {
	readonly usd?: number | string | undefined
	readonly tokens?: number | undefined
	readonly calls?: number | undefined
	readonly seconds?: number | undefined
}

interface LoopOptions {
	readonly repeats: number
	readonly within?: number | undefined
}

type OnExhausted = 'abort' | 'finish' | ((end: RunEnd) => MaybePromise$1<RunBounds | undefined>)

interface RunEnd {
	readonly bound: RunBound
	readonly budget: string
	readonly limit?: string | number | undefined
	readonly tool?: string | undefined
}

type RunBound = AmountKind | 'seconds' | 'loop' | 'closed' | 'signal'

type AmountKind = keyof Amounts
interface Amounts {
	readonly usd: number
	readonly tokens: number
	readonly calls: number
}

interface RunBudget {
	readonly id: string
	readonly name: string
	readonly signal: AbortSignal
	readonly end: RunEnd | undefined
	readonly spent: RunAmounts
	left(): Promise<Partial<RunAmounts>>
	report(): RunReport
	child(options: number | ChildOptions): RunBudget
	wrap<T extends object>(
		target: T,
		options?: {
			readonly model?: string | undefined
		}
	): T
	call<Args, Result>(
		options: WorkOptions<Args, Result>,
		work: (signal: AbortSignal) => MaybePromise$1<Result>
	): Promise<Awaited<Result>>
	guard<Args extends readonly unknown[], Result>(
		work: (...args: Args) => MaybePromise$1<Result>,
		options?: GuardOptions<Args, Result>
	): (...args: Args) => Promise<Awaited<Result>>
	tools<Tools extends object>(tools: Tools): Tools
	close(): Promise<void>
}

interface RunAmounts {
	readonly usd: string
	readonly microUsd: number
	readonly tokens: number
	readonly calls: number
	readonly seconds: number
}

interface RunReport {
	readonly name: string
	readonly spent: RunAmounts
	readonly end: RunEnd | undefined
	readonly children: readonly RunReport[]
}

interface ChildOptions extends RunBounds {
	readonly name?: string | undefined
	readonly share?: number | undefined
	readonly loops?: LoopOptions | undefined
}

interface WorkOptions<Args, Result> {
	readonly name: string
	readonly args?: Args | undefined
	readonly cost?: WorkCost | undefined
	readonly settle?: ((result: Result) => WorkCost) | undefined
	readonly signal?: AbortSignal | undefined
}

type WorkCost = Pick<RunBounds, 'usd' | 'tokens'>

interface GuardOptions<Args extends readonly unknown[], Result>
	extends Pick<WorkOptions<unknown, Result>, 'cost' | 'settle'> {
	readonly name?: string | undefined
	readonly compare?: ((...args: Args) => unknown) | undefined
}

declare class BudgetExhausted extends SluiceError implements RunEnd {
	readonly bound: RunBound
	readonly budget: string
	readonly limit: string | number | undefined
	readonly tool: string | undefined
	constructor({ bound, budget, limit, tool }: RunEnd, options?: ErrorOptions)
}
export {
	type LearnedCost,
	type LearnedReserve,
	type LearnedReserveOptions,
	learnedReserve,
	type ReserveStats,
	type Prices,
	type PriceTable,
	type PriceTableOptions,
	priceTable,
	type Usage,
	runBudget,
	BudgetExhausted,
	type RunBound,
	type RunEnd,
	type ChildOptions,
	type LoopOptions,
	type OnExhausted,
	type RunBounds,
	type RunBudgetOptions,
	type GuardOptions,
	type RunAmounts,
	type RunBudget,
	type RunReport,
	type WorkCost,
	type WorkOptions
}

// index.d.ts
import { LimitOverrides } from '@sluice/limiter-core'
import {
	CounterLedger,
	QuotaTable,
	AccountChange,
	AccountId,
	QuotaEntry,
	QuotaNotice,
	UsageLine,
	StoredEntry
} from '@sluice/counters/backend'
import { LeaseOptions, LeasingBackend, LeaseTerms } from '@sluice/fleet/leases'
import {
	Duration as Duration$1,
	MaybePromise as MaybePromise$1,
	Observer as Observer$1,
	Clock,
	MetricSource,
	Observers,
	PolicyInput as PolicyInput$1,
	Backend as Backend$1,
	Answer as Answer$1,
	PolicyCalendar as PolicyCalendar$1,
	CompiledPolicy as CompiledPolicy$1,
	Held,
	Metric as Metric$1
} from '@sluice/limiter-core/backend'
import { PlainCounter } from '@sluice/fleet/backend'

type ReservationEnd = 'posted' | 'voided' | 'expired'

declare function createQuotas(ledger: CounterLedger, options?: QuotasOptions): Quotas

interface QuotasOptions extends LeaseOptions {
	readonly waitMs?: Duration$1 | undefined
	readonly onUsed?: ((notice: QuotaUsed) => MaybePromise$1<void>) | undefined
	readonly notices?: readonly number[] | undefined
	readonly observers?: readonly Observer$1[] | undefined
	readonly clock?: Partial<Clock> | undefined
	readonly serverTime?: (() => number) | undefined
}

interface QuotaUsed {
	readonly id: string
	readonly policy: string
	readonly key: string
	readonly period: string
	readonly threshold: number
	readonly used: number
	readonly included: number
}

declare class Quotas extends LeasingBackend implements MetricSource {
	#private
	constructor(deps: QuotasDeps)
	balance(key: string, options?: QuotaName): Promise<QuotaBalance>
	forecast(key: string, options?: QuotaName): Promise<QuotaForecast>
	topUp(key: string, units: number, options: TopUpOptions): Promise<boolean>
	refund(key: string, units: number, options: RefundOptions): Promise<boolean>
	reserve(key: string, units: number, options?: ReserveOptions): Promise<QuotaReservation | undefined>
	post(
		key: string,
		id: string,
		options?: QuotaName & {
			readonly units?: number | undefined
		}
	): Promise<ReservationEnd>
	void(key: string, id: string, options?: QuotaName): Promise<ReservationEnd>
	openWaterfall(parts: readonly WaterfallInput[], scope: string): Waterfall
	usage(key: string, options: UsageOptions): Promise<readonly QuotaUsage[]>
	csv(options: UsageOptions): AsyncIterable<string>
	stranded(
		options?: QuotaName & {
			readonly key?: string | undefined
		}
	): Promise<readonly StrandedLease[]>
	credit(lease: StrandedLease, options?: QuotaName): Promise<number>
	metrics(): Iterable<Metric$1>
	observe(observer: Observer$1): () => void
	idle(): Promise<void>
	close(): Promise<void>
}

interface QuotasDeps {
	readonly table: QuotaTable
	readonly clock: Clock
	readonly waitMs: number
	readonly terms: LeaseTerms
	readonly observers: Observers
	readonly thresholds: readonly number[]
	readonly onUsed: ((notice: QuotaUsed) => MaybePromise$1<void>) | undefined
}

interface QuotaName {
	readonly policy?: string | undefined
	readonly scope?: string | undefined
}

interface QuotaBalance {
	readonly period: string
	readonly startsAt: number
	readonly endsAt: number
	readonly included: number
	readonly carried: number
	readonly toppedUp: number
	readonly topUpLeft: number
	readonly used: number
	readonly stranded: number
	readonly onLease: number
	readonly reserved: number
	readonly held: number
	readonly left: number
	readonly available: number
}

interface QuotaForecast {
	readonly period: string
	readonly endsAt: number
	readonly left: number
	readonly perHour: number
	readonly exhaustedAt: number | undefined
	readonly earliest: number | undefined
	readonly latest: number | undefined
}

interface TopUpOptions extends QuotaName {
	readonly token: string
	readonly expiresAt?: number | Date | undefined
}

interface RefundOptions extends QuotaName {
	readonly token: string
	readonly at?: number | Date | undefined
}

interface ReserveOptions extends QuotaName {
	readonly ttlMs?: Duration$1 | undefined
	readonly id?: string | undefined
}

interface QuotaReservation {
	readonly id: string
	readonly units: number
	readonly endsAt: number
}

type WaterfallInput = PolicyInput$1 | Credits

interface Credits {
	readonly kind: 'credits'
	readonly name: string
	readonly backend: Backend$1
	readonly unit: string | undefined
}

declare class Waterfall {
	#private
	constructor(parts: readonly OpenPart[], groups: AccountGroups)
	take(key: string, units: number, options?: WaterfallTakeOptions): Promise<WaterfallTake>
	peek(key: string, units?: number): Promise<WaterfallDecision>
	reserve(key: string, units: number, options?: WaterfallReserveOptions): Promise<WaterfallReservation>
	settle(
		key: string,
		units: number,
		reservation: string | Pick<WaterfallReservation, 'idempotencyKey'>
	): Promise<WaterfallTake>
	refund(
		key: string,
		units: number,
		take: string | Pick<WaterfallTake, 'idempotencyKey'>,
		options?: WaterfallRefundOptions
	): Promise<WaterfallRefund>
	close(): void
}

interface OpenPart {
	readonly name: string
	readonly counter: QuotaCounter
	readonly limitOf: (key: string) => number
}

declare class QuotaCounter extends PlainCounter<Promise<Answer$1>> {
	#private
	readonly account: string
	readonly terms: QuotaTerms
	readonly limit: number
	constructor(backend: QuotaBackend, compiled: CompiledPolicy$1, name: string, closed: () => void)
	termsOf(key: string): QuotaTerms
	close(): void
}

interface QuotaTerms {
	readonly periods: Pick<
		CalendarPeriods,
		'at' | 'between' | 'following' | 'hourAt' | 'sameHourUntil' | 'startAfter' | 'warmUp'
	>
	readonly keyZone?: KeyZone | undefined
	readonly carryOver: number
	readonly thresholds: readonly number[]
}

declare class CalendarPeriods {
	#private
	constructor(calendar: PolicyCalendar$1)
	at(epochMs: number): CalendarPeriod
	following(endedAt: number, epochMs: number): CalendarPeriod
	startAfter({ endsAt }: Pick<CalendarPeriod, 'endsAt'>, count: number): number
	warmUp(epochMs: number): void
	before(period: CalendarPeriod): CalendarPeriod
	between({ endsAt }: Pick<CalendarPeriod, 'endsAt'>, later: Pick<CalendarPeriod, 'startsAt'>): number
	later(period: Pick<CalendarPeriod, 'label'>, count: number): CalendarPeriod
	after(period: CalendarPeriod): CalendarPeriod
	hourAt(epochMs: number): number
	sameHourUntil(epochMs: number): number
}

interface CalendarPeriod {
	readonly label: string
	readonly startsAt: number
	readonly endsAt: number
}

interface KeyZone {
	readonly zone: string | undefined
	readonly periodsIn: (zone: string) => CalendarPeriods | undefined
}

interface QuotaBackend extends Pick<Backend$1<Promise<Answer$1>>, 'takeAll'> {
	readonly thresholds: readonly number[]
	readonly zoneFailed: (error: unknown) => void
}

declare class AccountGroups {
	#private
	constructor(options: AccountGroupsOptions)
	change<R>(change: GroupChange<R>): Promise<R>
	usedToken(id: AccountId, token: string): Promise<StoredEntry | undefined>
	idle(): Promise<void>
}

interface AccountGroupsOptions {
	readonly table: TimedQuotaTable
	readonly time: DatabaseTime
	readonly waitMs: number
	readonly onNotices: (notices: AccountChange['notices']) => void
}

declare class TimedQuotaTable implements QuotaTable {
	#private
	constructor(table: QuotaTable, clock: Clock, waitMs: number)
	get opening(): string | undefined
	readonly read: QuotaTable['read']
	readonly commit: QuotaTable['commit']
	readonly usedToken: QuotaTable['usedToken']
	readonly due: QuotaTable['due']
	readonly usage: QuotaTable['usage']
	readonly entries: QuotaTable['entries']
	readonly stranded: QuotaTable['stranded']
	readonly undelivered: QuotaTable['undelivered']
	readonly delivered: QuotaTable['delivered']
	close(): void
}

declare class DatabaseTime {
	#private
	constructor(clock: Clock)
	get now(): number | undefined
	get offsetMs(): number
	replied(now: number): void
}

interface GroupChange<R> {
	readonly members: readonly GroupMember[]
	readonly token: string | undefined
	readonly apply: (accounts: readonly QuotaAccount[]) => {
		readonly result: R
		readonly writes: number
	}
	readonly used?: (entry: StoredEntry) => R
}

interface GroupMember {
	readonly id: AccountId
	readonly terms: QuotaTerms
}

declare class QuotaAccount {
	#private
	readonly now: number
	readonly opening: string | undefined
	readonly journal: QuotaJournal
	readonly topUps: TopUps
	readonly holds: AccountHolds
	constructor(state: QuotaState, terms: QuotaTerms, now: number, opening?: string)
	get leases(): LeaseState[]
	get reservations(): readonly ReservationState[]
	get periods(): readonly PeriodState[]
	get writable(): {
		readonly from: number
		readonly until: number
	}
	get current(): PeriodState
	get lastLimit(): number | undefined
	open(limit: number): this
	period(label: string): PeriodState | undefined
	periodAt(at: number): PeriodState
	periodOf(at: number, limit: number): PeriodState
	get free(): number
	freeAt(at: number): number
	waitMs(units: number): number
	get capacity(): number
	pendingIn(period: PeriodState, at?: number): number
	pendingTopUps(at?: number): number
	take(units: number): boolean
	charge(period: PeriodState, units: number, at: number): void
	strand(period: PeriodState, units: number, at: number): void
	reserve(reservation: ReservationState): void
	release(id: string): ReservationState | undefined
	removeLeases(which: (lease: LeaseState) => boolean): void
	get dueAt(): number | undefined
}

declare class QuotaJournal {
	#private
	readonly entries: QuotaEntry[]
	readonly notices: QuotaNotice[]
	get isEmpty(): boolean
	get usage(): readonly UsageLine[]
	add(hour: number, { units, stranded, toppedUp }: Partial<Omit<UsageLine, 'hour'>>): void
}

declare class TopUps {
	#private
	constructor(all: TopUpState[])
	get any(): boolean
	left(now: number): number
	add(topUp: TopUpState, now: number): void
	draw(units: number, now: number): number
	giveBack(units: number, now: number): number
}

interface TopUpState {
	readonly token: string
	readonly units: number
	left: number
	readonly endsAt: number | null
}

declare class AccountHolds {
	#private
	constructor(all: HoldState[])
	unitsAt(at: number): number
	endsAfter(at: number): readonly number[]
	heldOf({ units, endsAt }: Held, now: number): number
	hold({ units, endsAt }: Held, now: number): void
	release(held: Held, now: number): void
	clear(): void
}

interface HoldState {
	readonly endsAt: number
	units: number
}
interface QuotaState {
	periods: PeriodState[]
	topUps: TopUpState[]
	leases: LeaseState[]
	reservations: ReservationState[]
	holds: HoldState[]
	writers: WriterState[]
	forgottenAt: number
}

interface PeriodState {
	readonly label: string
	readonly startsAt: number
	readonly endsAt: number
	readonly zone?: string
	limit: number
	carried: number
	used: number
	stranded: number
	toppedUp: number
	noticed: number
}

interface LeaseState {
	readonly owner: number
	period: string
	units: number
	endsAt: number
	seq: number
	base: number
	charged: number
	settled: number
	readonly opening?: string | undefined
}

interface ReservationState {
	readonly id: string
	readonly period: string
	readonly units: number
	readonly endsAt: number
	readonly madeAt?: number
}

interface WriterState {
	readonly writer: string
	readonly seq: number
	readonly at: number
	readonly charged?: Readonly<Record<string, number>>
}

interface WaterfallTakeOptions {
	readonly idempotencyKey?: string | undefined
}

interface WaterfallTake extends WaterfallDecision {
	readonly idempotencyKey: string
}

interface WaterfallDecision {
	readonly allowed: boolean
	readonly units: number
	readonly parts: readonly WaterfallPart[]
	readonly remaining: number
	readonly retryAfterMs: number
	readonly takenAt: number
}
interface WaterfallPart {
	readonly name: string
	readonly units: number
}

interface WaterfallReserveOptions {
	readonly idempotencyKey?: string | undefined
	readonly ttlMs?: Duration$1 | undefined
}

interface WaterfallReservation extends WaterfallTake {
	readonly endsAt: number
}

interface WaterfallRefundOptions {
	readonly idempotencyKey?: string | undefined
}

interface WaterfallRefund {
	readonly units: number
	readonly parts: readonly WaterfallPart[]
}

interface UsageOptions extends QuotaName {
	readonly from: number | Date
	readonly to: number | Date
	readonly by?: (typeof BY)[number] | undefined
}

declare const BY: readonly ['hour', 'day', 'week', 'month']

interface QuotaUsage {
	readonly key: string
	readonly from: number
	readonly until: number
	readonly used: number
	readonly stranded: number
	readonly toppedUp: number
}

interface StrandedLease {
	readonly key: string
	readonly period: string
	readonly ref: string
	readonly units: number
	readonly at: number
}

interface QuotaOptions {
	readonly name?: string | undefined
	readonly limit: number
	readonly per: PolicyCalendar$1['per']
	readonly timeZone?: string | ((key: string) => string | undefined) | undefined
	readonly resetAt?: string | undefined
	readonly anchor?: number | undefined
	readonly carryOver?: number | undefined
	readonly maxHoldMs?: Duration$1 | undefined
	readonly backend: Backend$1
	readonly unit?: string | undefined
	readonly overrides?: LimitOverrides | undefined
	readonly mode?: PolicyInput$1['mode'] | undefined
}

declare function quota(options: QuotaOptions): PolicyInput$1

interface WaterfallOptions {
	readonly scope?: string | undefined
}

declare function waterfall(parts: readonly WaterfallInput[], options?: WaterfallOptions): Waterfall

interface CreditsOptions {
	readonly name?: string | undefined
	readonly backend: Backend$1
	readonly unit?: string | undefined
}

declare function credits(options: CreditsOptions): Credits
export {
	type ReservationEnd,
	createQuotas,
	type QuotasOptions,
	type QuotaName,
	type QuotaOptions,
	quota,
	type QuotaBalance,
	type StrandedLease,
	type QuotaForecast,
	type QuotaUsed,
	type RefundOptions,
	type ReserveOptions,
	type TopUpOptions,
	type QuotaUsage,
	type UsageOptions,
	type QuotaReservation,
	type Quotas,
	type WaterfallOptions,
	waterfall,
	type Credits,
	type CreditsOptions,
	credits,
	type WaterfallInput,
	type Waterfall,
	type WaterfallRefundOptions,
	type WaterfallReserveOptions,
	type WaterfallTakeOptions,
	type WaterfallDecision,
	type WaterfallPart,
	type WaterfallRefund,
	type WaterfallReservation,
	type WaterfallTake
}
export { type LeasedCharge as LeasedCharge } from '@sluice/fleet/leases'
export { type LeasedCounter as LeasedCounter } from '@sluice/fleet/leases'
export { type LeasedKey as LeasedKey } from '@sluice/fleet/leases'
export { type AlgorithmName as AlgorithmName } from '@sluice/limiter-core'
export { type Answer as Answer } from '@sluice/limiter-core'
export { type Backend as Backend } from '@sluice/limiter-core'
export { type BanInput as BanInput } from '@sluice/limiter-core'
export { type Charge as Charge } from '@sluice/limiter-core'
export { type CompiledPolicy as CompiledPolicy } from '@sluice/limiter-core'
export { type CountedKey as CountedKey } from '@sluice/limiter-core'
export { type Decision as Decision } from '@sluice/limiter-core'
export { type Duration as Duration } from '@sluice/limiter-core'
export { type HeldUnits as HeldUnits } from '@sluice/limiter-core'
export { type Interruption as Interruption } from '@sluice/limiter-core'
export { type LimitOverrides as LimitOverrides } from '@sluice/limiter-core'
export { type MaybePromise as MaybePromise } from '@sluice/limiter-core'
export { type Metric as Metric } from '@sluice/limiter-core'
export { type Mode as Mode } from '@sluice/limiter-core'
export { type Moment as Moment } from '@sluice/limiter-core'
export { type Observer as Observer } from '@sluice/limiter-core'
export { type PolicyCalendar as PolicyCalendar } from '@sluice/limiter-core'
export { type PolicyInput as PolicyInput } from '@sluice/limiter-core'
