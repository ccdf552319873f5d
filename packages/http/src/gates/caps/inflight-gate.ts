import {
  type AcquireOptions,
  andThen,
  BackedInflightLimiter,
  type Clock,
  checkedUnits,
  clockOf,
  EXEMPT,
  FULL,
  type HeaderEntry,
  type HeaderPlan,
  type HttpDenial,
  httpDenial,
  isAdaptive,
  isPreflight,
  isPromise,
  type MaybePromise,
  type Mode,
  modeOf,
  oneOf,
  optionalFunction,
  optionsOf,
  type Permit,
  parseMode,
  preflightKey,
  type ReportFallback,
  type RequestView,
  type ResolvedKey,
  WEIGHT_EXCEEDS_LIMIT,
} from '@sluice/limiter-core/http'
import { compileHeaders } from '../../headers/compile-headers.ts'
import { LimiterReport, reportUnlessPreflight } from '../../report/limiter-report.ts'
import { fallbackReporter } from '../../report/report-fallback.ts'
import { isSkipped, runHook } from '../options/hook.ts'
import type { InflightLimitOptions } from '../options/inflight-limit-options.ts'
import { withInherited } from '../options/inherited-options.ts'
import { keySourceOf } from '../options/key-option.ts'
import { checkHooks, parseStatus } from '../options/request-rules.ts'
import { requestKey } from '../request-key.ts'
import { ViewedRequest } from '../viewed-request.ts'
import { capEntry } from './cap-entry.ts'
import { fittingWeight } from './cap-weight.ts'
import { afterUsualTime, type HeldPermit } from './held-permit.ts'
import { type Rank, RequestOrder } from './request-order.ts'
import { shortQueue } from './short-queue.ts'
import { checkedWorkClass, ROUTE, workClassOf } from './work-class.ts'

/** Result of a cap check: a permit or a denial. */
export type CapCheck =
  | (HeldPermit & { readonly denial?: undefined })
  | { readonly permit?: undefined; readonly denial: HttpDenial; readonly entry: HeaderEntry }

/** All options of `inflightLimit`, except those of a framework. */
export const INFLIGHT_LIMIT_OPTIONS = [
  'limit',
  'name',
  'key',
  'status',
  'weight',
  'priority',
  'fairBy',
  'workClass',
  'queue',
  'prioritizer',
  'maxHoldMs',
  'holdUntil',
  'backend',
  'shared',
  'trust',
  'skip',
  'mode',
  'headers',
  'denied',
  'message',
  'observers',
  'clock',
] as const

/**
 * Framework-independent part of `inflightLimit`. Never throws or rejects. Results are synchronous if the key source,
 * the weight and the backend are.
 */
export class InflightGate<Req, Res> {
  readonly options: InflightLimitOptions<Req, Res>
  readonly limiter: BackedInflightLimiter
  readonly mode: Mode
  readonly shownNames: readonly string[]
  readonly report: LimiterReport
  readonly #status: number
  readonly #headers: HeaderPlan
  /** Denial of a full cap, with the limit that it shows. */
  #denied: CapCheck
  #deniedLimit: number
  /** Denial of a request that can never pass, however long the client waits. */
  readonly #never: CapCheck
  readonly #reportFallback: ReportFallback
  readonly #order: RequestOrder<Req> | undefined
  readonly #hasClasses: boolean
  readonly #clock: Clock
  readonly #adapterOptions: readonly string[]

  /**
   * `adapterOptions` are the names of options that only the adapter reads. `routeScope` names the part of the
   * application that is capped, unless the cap applies to the whole application.
   */
  constructor(options: InflightLimitOptions<Req, Res>, adapterOptions: readonly string[] = [], routeScope?: string) {
    optionsOf('inflightLimit', options as unknown as Record<string, unknown>, [
      ...INFLIGHT_LIMIT_OPTIONS,
      ...adapterOptions,
    ])
    const {
      name,
      limit,
      maxHoldMs,
      backend,
      shared,
      clock,
      observers,
      status = 503,
      headers,
      weight,
      holdUntil,
    } = options
    checkHooks(options, adapterOptions)
    if (options.workClass !== ROUTE && options.workClass !== false) optionalFunction('workClass', options.workClass)
    if (options.key !== undefined) keySourceOf(options.key)
    if (options.mode !== undefined) parseMode(options.mode, 'mode')
    if (weight !== undefined && typeof weight !== 'function') fittingWeight(weight, limit)
    if (holdUntil !== undefined) oneOf('holdUntil', holdUntil, ['response', 'handler'])
    const plan = compileHeaders({ headers })
    const refused = parseStatus(status)
    this.options = options
    this.#adapterOptions = adapterOptions
    this.mode = modeOf(options.mode)
    this.#hasClasses = isAdaptive(limit) && options.workClass !== false
    this.#clock = clockOf(clock)
    this.#order = RequestOrder.of(options, (key) => shortQueue(this.limiter, key))
    const ordered = this.#order?.backend
    // last, because the limiter claims its name, which would not be released if a later check threw
    this.limiter = new BackedInflightLimiter(
      { name, limit, maxHoldMs, backend: backend === undefined ? ordered : backend, shared, clock, observers },
      routeScope,
      ordered,
    )
    this.shownNames = [this.limiter.name]
    this.report = new LimiterReport(this.limiter.observers, () => this.shownNames)
    this.#reportFallback = fallbackReporter(this.report)
    this.#status = refused
    this.#headers = plan
    this.#deniedLimit = this.limiter.limit
    this.#denied = this.#denial(FULL.retryAfterMs, this.#deniedLimit)
    this.#never = this.#denial(WEIGHT_EXCEEDS_LIMIT.retryAfterMs, this.limiter.maxWeight)
  }

  /** Returns the cap for a part of the application, named by `routeScope`. Omitted options are inherited. */
  below(options: InflightLimitOptions<Req, Res>, routeScope?: string): InflightGate<Req, Res> {
    const { limit: _limit, name: _name, ...shared } = this.options
    return new InflightGate(withInherited(options, shared), this.#adapterOptions, routeScope)
  }

  get name(): string {
    return this.limiter.name
  }

  /** Whether requests may wait for a place. */
  get waits(): boolean {
    return this.#order?.waits ?? false
  }

  close(): void {
    this.limiter.close()
    this.#order?.backend.close?.()
  }

  /** Returns undefined if the request is not counted, or if a cap in shadow mode would have denied it. */
  check(view: RequestView<Req>, signal?: AbortSignal): MaybePromise<CapCheck | undefined> {
    if (this.mode === 'off') return undefined
    const { skip } = this.options
    if (!skip) return this.#checkKey(view, signal)
    return andThen(isSkipped(skip, view, this.report), (yes) => (yes ? undefined : this.#checkKey(view, signal)))
  }

  #checkKey(view: RequestView<Req>, signal: AbortSignal | undefined): MaybePromise<CapCheck | undefined> {
    const { key, weight } = this.options
    const order = this.#order
    const named = key ? requestKey(key, view, this.#reportFallback) : wholeProcess(view)
    if (!isPromise(named) && typeof weight !== 'function' && !order) return this.#acquire(named, view, weight, signal)
    return andThen(named, (one) =>
      andThen(this.#weight(view), (places) => {
        if (!order) return this.#acquire(one, view, places, signal)
        const rank = order.rankOf(view, this.report, this.#reportFallback)
        return andThen(rank, (ranked) => this.#acquire(one, view, places, signal, ranked))
      }),
    )
  }

  #weight(view: RequestView<Req>): MaybePromise<number | undefined> {
    const { weight } = this.options
    if (typeof weight !== 'function') return weight
    return runHook(
      'weight',
      () => weight(view.raw),
      (places) => checkedUnits(places, 'weight'),
      1,
      reportUnlessPreflight(view, this.report),
    )
  }

  /** Returns the class of a request for an adaptive limit with classes. */
  #workClass(view: RequestView<Req>): MaybePromise<string> {
    const { workClass } = this.options
    if (typeof workClass !== 'function') return workClassOf(view)
    const report = reportUnlessPreflight(view, this.report)
    const named = runHook('workClass', () => workClass(view.raw), checkedWorkClass, ROUTE, report)
    return andThen(named, (one) => (one === ROUTE ? workClassOf(view) : one))
  }

  #acquire(
    key: ResolvedKey,
    view: RequestView<Req>,
    weight: number | undefined = 1,
    signal?: AbortSignal,
    rank?: Rank,
  ): MaybePromise<CapCheck | undefined> {
    if (!this.#hasClasses) return this.#acquireAs(undefined, key, view, weight, signal, rank)
    return andThen(this.#workClass(view), (workClass) => this.#acquireAs(workClass, key, view, weight, signal, rank))
  }

  #acquireAs(
    workClass: string | undefined,
    key: ResolvedKey,
    view: RequestView<Req>,
    weight: number,
    signal: AbortSignal | undefined,
    rank: Rank | undefined,
  ): MaybePromise<CapCheck | undefined> {
    if (key === EXEMPT) return undefined
    if (typeof key !== 'string') return this.#refused(this.#never)
    const requested: AcquireOptions = signal
      ? { weight, signal, mayWait: !this.#isShadow, workClass, ...rank }
      : { weight, workClass, ...rank }
    const options = this.limiter.observers.any ? { ...requested, request: new ViewedRequest(view) } : requested
    try {
      const held = this.limiter.acquire(key, options)
      if (isPromise(held)) return held.then((permit) => this.#checked(permit, key, weight), this.#backendFailed)
      return this.#checked(held, key, weight)
    } catch (error) {
      return this.#backendFailed(error)
    }
  }

  #checked(permit: Permit | undefined, key: string, weight: number): CapCheck | undefined {
    if (!permit) return this.#refused(this.#denialOf(key, weight))
    const { learned } = this.limiter
    return { permit, report: this.report, afterUsualTime: learned && afterUsualTime(learned, key, this.#clock) }
  }

  #denialOf(key: string, weight: number): CapCheck {
    const { controlled } = this.limiter
    const limit = this.limiter.limitOf(key)
    if (controlled) return this.#denial((controlled.denialOf(key, weight) ?? FULL).retryAfterMs, limit)
    if (weight > this.limiter.maxWeight) return this.#never
    if (limit !== this.#deniedLimit) {
      this.#deniedLimit = limit
      this.#denied = this.#denial(FULL.retryAfterMs, limit)
    }
    return this.#denied
  }

  #denial(retryAfterMs: number, limit: number): CapCheck {
    const { name } = this.limiter
    return { denial: httpDenial(this.#status, [name], retryAfterMs), entry: capEntry(this.#headers, name, limit) }
  }

  get #isShadow(): boolean {
    return (this.limiter.controlled?.mode ?? this.mode) === 'shadow'
  }

  #refused(denied: CapCheck): CapCheck | undefined {
    return this.#isShadow ? undefined : denied
  }

  readonly #backendFailed = (error: unknown): undefined => {
    this.report.backendFailed(error, 'a request passed uncounted because the backend of the cap failed')
  }
}

function wholeProcess(view: RequestView): ResolvedKey {
  return isPreflight(view) ? preflightKey('') : ''
}
