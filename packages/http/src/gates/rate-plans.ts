import {
  type FailoverRule,
  type KeySource,
  KeyTerms,
  type LimiterIdentity,
  type OpenPolicy,
  openPolicies,
} from '@sluice/limiter-core/http'
import { type CompiledCost, checkFits, checkHolds, compileCost, countedCost } from './options/cost-source.ts'
import type { SkipHook } from './options/gate-options.ts'
import { keySourceOf } from './options/key-option.ts'
import { inputsByPlan, policyOf } from './options/rate-inputs.ts'
import type { RateLimitOptions } from './options/rate-limit-options.ts'
import { RequestLimits } from './options/request-limits.ts'
import type { LimitHook, RequestPolicy, WindowHook } from './options/request-policy.ts'
import { RequestWindows } from './options/request-windows.ts'
import type { ResponseSettings } from './response-settings.ts'

/** A policy of a plan with its counter, key source, cost and layer. */
interface PlanPolicy<Req, Res> extends OpenPolicy {
  /** The options from which the policy was compiled. */
  readonly input: RequestPolicy<Req, Res>
  readonly key: KeySource<Req>
  readonly cost: CompiledCost<Req, Res>
  /** Limits of requests; undefined if all requests have the limit of the policy. */
  readonly limits: RequestLimits<Req> | undefined
  /** Windows of requests; undefined if all requests have the window of the policy. */
  readonly windows: RequestWindows<Req> | undefined
  /** The `skip` hook of the layer that declares the policy. */
  readonly skip: SkipHook<Req> | undefined
  readonly answer: ResponseSettings<Req, Res>
}

/** The inputs of a policy that depend on the request. */
interface PolicySource<Req, Res> extends Pick<PlanPolicy<Req, Res>, 'key' | 'cost' | 'skip'> {
  readonly limitOf: LimitHook<Req> | undefined
  readonly windowOf: WindowHook<Req> | undefined
}

/** Rules of a layer that apply only to its own policies. */
export interface LayerRules<Req, Res> {
  readonly answer: ResponseSettings<Req, Res>
  readonly failover: FailoverRule
  /** The limiter whose policies these are, if they can change. */
  readonly identity?: LimiterIdentity | undefined
  /** Scope of the counts on a user-provided backend. Replaces `scope` of the options. */
  readonly routeScope?: string | undefined
}

/** The policies of one plan. */
export type RatePlan<Req, Res> = readonly PlanPolicy<Req, Res>[]

/** Plans by name. Without plans there is one, named ''. */
export type RatePlans<Req, Res> = ReadonlyMap<string, RatePlan<Req, Res>>

/** Validates the options of `rateLimit` and compiles the policies by plan. Without plans there is one, named ''. */
export function compilePlans<Req, Res>(
  options: RateLimitOptions<Req, Res>,
  defaultKey: KeySource<Req>,
  adapterOptions: readonly string[],
  { answer, failover, identity, routeScope }: LayerRules<Req, Res>,
): Map<string, RatePlan<Req, Res>> {
  const inputs = inputsByPlan(options, adapterOptions)
  const names = Object.keys(inputs)
  const policies = names.map((name) => inputs[name].map((input) => policyOf(input)))
  const sources = names.map((name) =>
    inputs[name].map(
      (input): PolicySource<Req, Res> => ({
        key: keySourceOf(firstOf(input.key, options.key, defaultKey)),
        cost: compileCost(countedCost(firstOf(input.cost, options.cost), options.countOnly)),
        limitOf: functionOf<LimitHook<Req>>(input.limit),
        windowOf: functionOf<WindowHook<Req>>(input.window),
        skip: options.skip,
      }),
    ),
  )
  const scoped = { ...options, identity, ...(routeScope !== undefined && { scope: undefined, routeScope }) }
  // last, because opening claims names, which would not be released if a key or a cost were invalid
  const opened = openPolicies(policies, scoped)
  const policyOfPlan = (
    input: RequestPolicy<Req, Res>,
    open: OpenPolicy,
    source: PolicySource<Req, Res>,
  ): PlanPolicy<Req, Res> => {
    const { limitOf, windowOf, ...rest } = source
    checkFits(rest.cost, open.counter.compiled)
    checkHolds(rest.cost, open.counter.compiled)
    const limits = limitOf && new RequestLimits(limitOf, open.counters)
    const windows = windowOf && new RequestWindows(windowOf, open.counters, limits !== undefined)
    const terms = limits || windows ? new KeyTerms() : undefined
    return { ...open, input, failover, answer, limits, windows, terms, ...rest }
  }
  const planOf = (plan: number): RatePlan<Req, Res> =>
    opened[plan].map((open, index) => policyOfPlan(inputs[names[plan]][index], open, sources[plan][index]))
  try {
    return new Map(names.map((name, plan) => [name, planOf(plan)]))
  } catch (error) {
    // releases the names of a limiter that is not created
    for (const { close } of opened.flat()) close()
    throw error
  }
}

/** Returns the first value that is not undefined. */
function firstOf<T>(...values: readonly T[]): T {
  return values.find((value) => value !== undefined) as T
}

function functionOf<F>(value: unknown): F | undefined {
  return typeof value === 'function' ? (value as F) : undefined
}
