import {
  type FailoverRule,
  type KeySource,
  keySourceOf,
  kindOf,
  type OpenPolicy,
  openPolicies,
  optionsOf,
  POLICY_ONLY,
  type PolicyInput,
  SluiceError,
} from '@sluice/limiter-core/http'
import { type CompiledCost, checkFits, compileCost, countedCost } from './cost-source.ts'
import type { PlansOptions, PoliciesOptions, RateLimitOptions, RequestPolicy, SkipHook } from './rate-limit-options.ts'
import type { ResponseSettings } from './response-settings.ts'

/** A policy of a plan with its counter, key source, cost and layer. */
interface PlanPolicy<Req, Res> extends OpenPolicy {
  readonly key: KeySource<Req>
  readonly cost: CompiledCost<Req, Res>
  /** The `skip` hook of the layer that declares the policy. */
  readonly skip: SkipHook<Req> | undefined
  readonly answer: ResponseSettings<Req, Res>
}

/** Rules of a layer that apply only to its own policies. */
export interface LayerRules<Req, Res> {
  readonly answer: ResponseSettings<Req, Res>
  readonly failover: FailoverRule
  /** Scope of the counts on a user-provided backend. Replaces `scope` of the options. */
  readonly routeScope?: string | undefined
}

/** The policies of one plan. */
export type RatePlan<Req, Res> = readonly PlanPolicy<Req, Res>[]

/** Plans by name. Without plans there is one, named ''. */
export type RatePlans<Req, Res> = ReadonlyMap<string, RatePlan<Req, Res>>

export const SHARED_RATE_OPTIONS = [
  'key',
  'cost',
  'countOnly',
  'scope',
  'shared',
  'backend',
  'onBackendError',
  'deadlineMs',
  'trust',
  'skip',
  'mode',
  'partitionKey',
  'status',
  'denied',
  'message',
  'observers',
  'clock',
  'headers',
  'legacy',
  'headersOn',
] as const

/** Validates the options of `rateLimit` and compiles the policies by plan. Without plans there is one, named ''. */
export function compilePlans<Req, Res>(
  options: RateLimitOptions<Req, Res>,
  defaultKey: KeySource<Req>,
  adapterOptions: readonly string[],
  { answer, failover, routeScope }: LayerRules<Req, Res>,
): Map<string, RatePlan<Req, Res>> {
  const inputs = inputsByPlan(options, adapterOptions)
  const names = Object.keys(inputs)
  const policies = names.map((name) => inputs[name].map((input) => policyOf(input)))
  const sources = names.map((name) =>
    inputs[name].map((input) => ({
      key: keySourceOf(input.key ?? options.key ?? defaultKey),
      cost: compileCost(countedCost(input.cost ?? options.cost, options.countOnly)),
      skip: options.skip,
    })),
  )
  // last, because opening claims names, which would not be released if a key or a cost were invalid
  const opened = openPolicies(
    policies,
    routeScope === undefined ? options : { ...options, scope: undefined, routeScope },
  )
  const planOf = (plan: number): RatePlan<Req, Res> =>
    opened[plan].map((open, index) => {
      checkFits(sources[plan][index].cost, open.counter.compiled)
      return { ...open, failover, answer, ...sources[plan][index] }
    })
  try {
    return new Map(names.map((name, plan) => [name, planOf(plan)]))
  } catch (error) {
    // releases the names of a limiter that is not created
    for (const { close } of opened.flat()) close()
    throw error
  }
}

function policyOf(input: unknown): PolicyInput {
  if (typeof input !== 'object' || input === null) {
    throw new SluiceError('SLUICE_BAD_OPTION', `policy: expected an object of options, received ${kindOf(input)}`)
  }
  const { key: _key, cost: _cost, ...policy } = input as RequestPolicy<unknown, unknown>
  return policy
}

type Inputs<Req, Res> = Readonly<Record<string, readonly RequestPolicy<Req, Res>[]>>

function inputsByPlan<Req, Res>(options: RateLimitOptions<Req, Res>, extra: readonly string[]): Inputs<Req, Res> {
  const given = options as Partial<PlansOptions<Req, Res> & PoliciesOptions<Req, Res>>
  const named = options as unknown as Readonly<Record<string, unknown>>
  const own = (names: readonly string[]): void => {
    optionsOf('rateLimit', named, [...names, ...SHARED_RATE_OPTIONS, ...extra])
  }
  if (given?.plans !== undefined) {
    own(['plans', 'plan'])
    if (typeof given.plan !== 'function') {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `plan: expected a function that returns the plan of a request, received ${kindOf(given.plan)}`,
      )
    }
    if (isPlans<Req, Res>(given.plans)) return given.plans
    throw new SluiceError('SLUICE_BAD_OPTION', whyNoPlans(given.plans))
  }
  if (given?.policies !== undefined) {
    own(['policies'])
    return { '': listOf<RequestPolicy<Req, Res>>(given.policies) }
  }
  own(POLICY_ONLY)
  const policy = Object.fromEntries(
    POLICY_ONLY.flatMap((name) => (named[name] === undefined ? [] : [[name, named[name]]])),
  )
  return { '': [policy as unknown as RequestPolicy<Req, Res>] }
}

function isPlans<Req, Res>(plans: unknown): plans is Inputs<Req, Res> {
  if (typeof plans !== 'object' || plans === null) return false
  const policies = Object.values(plans)
  return policies.length > 0 && policies.every((list) => Array.isArray(list) && list.length > 0)
}

function listOf<T>(value: unknown): readonly T[] {
  if (Array.isArray(value) && value.length > 0) return value
  throw new SluiceError('SLUICE_BAD_OPTION', `policies: expected a non-empty array, received ${kindOf(value)}`)
}

function whyNoPlans(plans: unknown): string {
  const expected = 'a non-empty array of policies'
  const isBad = ([, list]: [string, unknown]): boolean => !Array.isArray(list) || list.length === 0
  const [name, one] = Object.entries(plans ?? {}).find(isBad) ?? []
  if (name !== undefined) return `plans.${name}: expected ${expected}, received ${kindOf(one)}`
  const example = "{ free: [{ limit: 10, window: '1m' }] }"
  return `plans: expected ${expected} for each plan, as in ${example}, received ${kindOf(plans)}`
}
