import {
  andThen,
  byIp,
  compileFailover,
  type Decision,
  EXEMPT,
  isPromise,
  type LimiterHold,
  type MaybePromise,
  type Moment,
  Observers,
  optionsOf,
  type PolicyLimiter,
  type ReportFallback,
  type RequestTerms,
  type RequestView,
  type ResolvedKey,
  soleEntry,
} from '@sluice/limiter-core/http'
import { LimiterReport } from '../report/limiter-report.ts'
import { fallbackReporter } from '../report/report-fallback.ts'
import { changingPoliciesOf, RATE_LIMIT_OPTIONS } from './options/rate-inputs.ts'
import type { RateLimitOptions } from './options/rate-limit-options.ts'
import type { RequestLimit } from './options/request-limits.ts'
import { checkHooks } from './options/request-rules.ts'
import { PlanChoice } from './plan-choice.ts'
import { type PlanGate, planGate } from './plan-gate.ts'
import { costsOf, keysOf, type PlannedRequest, type RequestedTerms, termsOf } from './plan-inputs.ts'
import { PolicyChanges } from './policy-changes.ts'
import type { GateOverrides, RateCheck } from './rate-check.ts'
import { rateDenial, rateEntries } from './rate-entries.ts'
import { layeredGate, type RateLayer } from './rate-layers.ts'
import { compilePlans, type LayerRules, type RatePlan, type RatePlans } from './rate-plans.ts'
import { requestKey } from './request-key.ts'
import { ResolvedKeys } from './resolved-keys.ts'
import { compileResponse, type ResponseSettings } from './response-settings.ts'
import { ViewedRequest } from './viewed-request.ts'

/**
 * Framework-independent part of `rateLimit`: decides whether a request may pass. `check` never throws or rejects, and
 * it is synchronous if the key sources, the costs and the backend are.
 */
export class RateGate<Req, Res> {
  readonly options: RateLimitOptions<Req, Res>
  /** Names of options that only the adapter reads. */
  readonly adapterOptions: readonly string[]
  readonly observers: Observers
  readonly report: LimiterReport
  /** How denials are answered, unless a layer below answers differently. */
  readonly answer: ResponseSettings<Req, Res>
  /** Policy names of all plans, as they appear in headers. */
  shownNames: readonly string[] = []
  /** Set if the policies of this gate, or of the gate above, can change. */
  readonly changes: PolicyChanges<RatePlans<Req, Res>> | undefined
  #plans: PlanChoice<Req, Res>
  readonly #reportFallback: ReportFallback

  constructor(
    options: RateLimitOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
    part: GateOverrides<Req, Res> = {},
  ) {
    optionsOf('rateLimit', options as object as Record<string, unknown>, [...RATE_LIMIT_OPTIONS, ...adapterOptions])
    checkHooks(options, adapterOptions)
    this.options = options
    this.adapterOptions = adapterOptions
    this.observers = part.observers ?? new Observers(options.observers, () => this.shownNames)
    this.report = new LimiterReport(this.observers, () => this.shownNames)
    this.#reportFallback = fallbackReporter(this.report)
    this.answer = part.answer ?? compileResponse(options)
    const failover = compileFailover(options)
    const gateOf = (plan: RatePlan<Req, Res>): PlanGate<Req, Res> =>
      planGate(plan, options.clock, this.observers, failover)
    // last, because compiling claims names, which would not be released if a later check threw
    const own = changingPoliciesOf(options)
    const identity = PolicyChanges.identityFor(own, part.above?.changes)
    const layer: LayerRules<Req, Res> = { answer: this.answer, failover, identity, routeScope: part.routeScope }
    const open = (inherited?: RatePlans<Req, Res>): PlanChoice<Req, Res> => {
      const plans = part.plans?.(layer, inherited) ?? compilePlans(options, byIp(), adapterOptions, layer)
      return new PlanChoice(plans, gateOf, options)
    }
    const use = (plans: PlanChoice<Req, Res>): void => {
      plans.replace(this.#plans)
      this.#plans = plans
      this.shownNames = plans.policyNames
    }
    this.#plans = open()
    this.shownNames = this.#plans.policyNames
    this.changes = PolicyChanges.of({ observers: this.observers, open, use }, own, part.above?.changes)
  }

  /** Whether requests can pass without any work, because all policies of all plans are off forever. */
  get isOff(): boolean {
    return !this.changes && this.#plans.isOff
  }

  /** The policies by name of the plan. */
  get policies(): RatePlans<Req, Res> {
    return this.#plans.policies
  }

  /** Returns the limiter of a plan. Without a name, or if there is no such plan, returns that of the first plan. */
  limiter(plan?: string): PolicyLimiter {
    return this.#plans.limiter(plan)
  }

  /**
   * Returns the gate for a part of the application, named by `routeScope`. Policies of the layer replace policies of
   * this gate with the same name. The other policies of this gate still apply and share its counts, except those in
   * `without`. Missing options are inherited from this gate.
   */
  nested(layer: RateLayer<Req, Res>): RateGate<Req, Res> {
    const { options, part } = layeredGate(this, layer, this)
    return new RateGate(options, this.adapterOptions, part)
  }

  /**
   * Same as `nested`, for a part that declares several limits one after the other. `above` is the gate of the enclosing
   * part: missing options are inherited from it, and not from the other limits of the same part.
   */
  extended(layer: RateLayer<Req, Res>, above: RateGate<Req, Res> | undefined): RateGate<Req, Res> {
    const { options, part } = layeredGate(this, layer, above ?? {})
    return new RateGate(options, this.adapterOptions, part)
  }

  /** Returns undefined if the request is not counted: skipped, exempt, or the backend failed. */
  check(view: RequestView<Req>, requested?: Moment): Checked<Req, Res> {
    const moment = this.observers.any ? { ...requested, request: new ViewedRequest(view) } : requested
    const { first: gate, hasHooks } = this.#plans
    const { sole } = gate
    if (hasHooks || !sole || gate.limiter.controlled) {
      return andThen(this.#plans.choose(view, this.report), (chosen) => chosen && this.#checkPlan(chosen, moment))
    }
    const key = requestKey(sole.key, view, this.#reportFallback)
    if (typeof key !== 'string') return andThen(key, (one) => this.#take(gate, [one], sole.costs, moment))
    const counted: Counted<Req, Res> = { gate, answers: undefined, keys: [key], costs: sole.costs }
    try {
      const taken = gate.limiter.take(key, sole.cost, moment)
      return isPromise(taken) ? this.#outcomeOf(counted, taken) : this.#outcome(counted, taken)
    } catch (error) {
      return this.#backendFailed(error)
    }
  }

  close(): void {
    this.changes?.close()
    this.#plans.close()
  }

  #checkPlan(requested: PlannedRequest<Req, Res>, moment: Moment | undefined): Checked<Req, Res> {
    const { gate } = requested
    if (gate.plan.length === 0) return undefined
    const keys = keysOf(requested, this.#reportFallback)
    const costs = costsOf(requested, this.report)
    const terms = termsOf(requested, this.report)
    if (isPromise(keys) || isPromise(costs) || isPromise(terms)) {
      return Promise.all([keys, costs, terms]).then(([k, c, t]) => this.#take(gate, k, c, moment, t))
    }
    return this.#take(gate, keys, costs, moment, terms)
  }

  #take(
    gate: PlanGate<Req, Res>,
    resolved: readonly ResolvedKey[],
    costs: readonly number[],
    moment: Moment | undefined,
    requested?: RequestedTerms,
  ): Checked<Req, Res> {
    const { limits } = requested ?? {}
    const terms = requested && { ...requested, limits: limits?.map(numberOf) }
    const limited = limits ? limitedKeys(resolved, limits) : resolved
    const keys = gate.exempts || gate.limiter.controlled ? withoutExempt(gate, limited) : limited
    const answers = areStrings(keys) ? undefined : new ResolvedKeys(gate, keys, requested?.windows)
    if (answers?.isFinal) {
      const { uncounted } = answers
      return uncounted && this.#outcome({ gate, answers, keys: [], costs }, uncounted)
    }
    const counted: Counted<Req, Res> = { gate, answers, keys: answers?.counted ?? (keys as readonly string[]), costs }
    try {
      if (gate.holds) return this.#hold(counted, moment, terms)
      const taken = gate.limiter.takeEach(counted.keys, costs, moment, terms)
      return isPromise(taken) ? this.#outcomeOf(counted, taken) : this.#outcome(counted, taken)
    } catch (error) {
      return this.#backendFailed(error)
    }
  }

  #hold(counted: Counted<Req, Res>, moment: Moment | undefined, terms: RequestTerms | undefined): Checked<Req, Res> {
    const held = counted.gate.limiter.holdEach(counted.keys, counted.costs, moment, terms)
    const outcome = (hold: LimiterHold): RateCheck<Req, Res> => ({ ...this.#outcome(counted, hold.decision), hold })
    return isPromise(held) ? held.then(outcome).catch(this.#backendFailed) : outcome(held)
  }

  #outcomeOf(counted: Counted<Req, Res>, taken: Promise<Decision>): Checked<Req, Res> {
    return taken.then((decision) => this.#outcome(counted, decision)).catch(this.#backendFailed)
  }

  readonly #backendFailed = (error: unknown): undefined => {
    this.report.backendFailed(error, 'a request passed uncounted because the backend failed')
  }

  #outcome({ gate, answers, keys, costs }: Counted<Req, Res>, taken: Decision): RateCheck<Req, Res> {
    const decision = answers ? answers.joined(taken) : taken
    const { sole, parts } = gate
    const entries =
      sole && !gate.limiter.controlled
        ? [soleEntry(sole.headers, parts[0].policyItems, decision.binding)]
        : rateEntries(gate, decision, keys, answers?.applying)
    if (decision.allowed)
      return { gate, keys, costs, decision, entries, denial: undefined, responseOptions: this.options }
    const { denial, answer } = rateDenial(gate, decision)
    return { gate, keys, costs, decision, entries, denial, responseOptions: answer.options }
  }
}

type Checked<Req, Res> = MaybePromise<RateCheck<Req, Res> | undefined>

/** A request whose keys and costs are known. */
interface Counted<Req, Res> extends Pick<RateCheck<Req, Res>, 'gate' | 'keys' | 'costs'> {
  /** Set if the request is exempt from a policy, or if a key source returned `DENY`. */
  readonly answers: ResolvedKeys | undefined
}

/**
 * Replaces keys with `EXEMPT` for policies that an operator has switched off, and for policies that count only keys
 * with an override if the key has none.
 */
function withoutExempt(
  { plan, limiter: { controlled } }: PlanGate<never, never>,
  keys: readonly ResolvedKey[],
): ResolvedKey[] {
  return keys.map((key, index) => {
    const { policy, overrides } = plan[index]
    if (controlled?.isOff(policy)) return EXEMPT
    return typeof key === 'string' && overrides?.isExempt(key) ? EXEMPT : key
  })
}

/** Replaces keys of requests that are exempt from a policy, or denied by it, because of their limit. */
function limitedKeys(
  keys: readonly ResolvedKey[],
  limits: readonly (RequestLimit | undefined)[],
): readonly ResolvedKey[] {
  return keys.map((key, index) => {
    const limit = limits[index]
    return typeof key === 'string' && limit !== undefined && typeof limit !== 'number' ? limit : key
  })
}

function numberOf(limit: RequestLimit | undefined): number | undefined {
  return typeof limit === 'number' ? limit : undefined
}

function areStrings(keys: readonly ResolvedKey[]): keys is readonly string[] {
  for (const key of keys) if (typeof key !== 'string') return false
  return true
}
