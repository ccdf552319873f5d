import {
  badOption,
  badValue,
  DEFAULT_NAMES,
  type Duration,
  kindOf,
  LARGEST_HEADER_INTEGER,
  LARGEST_LOG,
  optionsOf,
  POLICY_ONLY,
  type PolicyInput,
  parseDuration,
  SluiceError,
} from '@sluice/limiter-core/http'
import { type ChangingPolicies, isChanging } from './changing-policies.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import type { RequestPolicy } from './request-policy.ts'
import { UNKNOWN_WINDOW_MS } from './request-windows.ts'

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

/** All options of `rateLimit`, except those of a framework. */
export const RATE_LIMIT_OPTIONS: readonly string[] = [
  ...POLICY_ONLY,
  'policies',
  'plans',
  'plan',
  ...SHARED_RATE_OPTIONS,
]

const POLICY_OPTIONS: readonly (keyof RequestPolicy<unknown, unknown>)[] = [
  ...POLICY_ONLY,
  'key',
  'cost',
  'mode',
  'backend',
]

const BY_PLAN =
  "a number or a function of the request; for limits by plan, plans: { free: [{ limit: 10, window: '1m' }] } and " +
  "plan: (req) => 'free'"

/** Returns the options of a policy for the limiter. A function is replaced by a value that applies to no request. */
export function policyOf(input: unknown): PolicyInput {
  optionsOf('policy', input as RequestPolicy<unknown, unknown>, POLICY_OPTIONS, {
    'next to policies': SHARED_RATE_OPTIONS,
  })
  const { key: _key, cost: _cost, limit, window, ...policy } = input as RequestPolicy<unknown, unknown>
  if (typeof window === 'function' && policy.calendar !== undefined) {
    throw badOption('window', window, 'a duration for a policy with a calendar')
  }
  if (typeof limit === 'object' && limit !== null)
    throw badValue('SLUICE_BAD_LIMIT', `policy '${policy.name ?? DEFAULT_NAMES.rateLimit}': limit`, limit, BY_PLAN)
  const length = typeof window === 'function' ? UNKNOWN_WINDOW_MS : window
  return {
    ...policy,
    limit: typeof limit === 'function' ? unknownLimit(policy.algorithm, length) : limit,
    window: length,
  }
}

/** Returns the limit of a policy whose limit depends on the request: the largest one that its algorithm counts. */
function unknownLimit(algorithm: PolicyInput['algorithm'], window: Duration): number {
  if (algorithm === 'sliding-log') return LARGEST_LOG
  return algorithm === 'gcra' ? parseDuration(window, 'window') : LARGEST_HEADER_INTEGER
}

type Inputs<Req, Res> = Readonly<Record<string, readonly RequestPolicy<Req, Res>[]>>

/** Returns the policies of the options by plan. Without plans there is one, named ''. Throws `SLUICE_BAD_OPTION`. */
export function inputsByPlan<Req, Res>(
  options: RateLimitOptions<Req, Res>,
  extra: readonly string[],
): Inputs<Req, Res> {
  const named = options as unknown as Readonly<Record<string, unknown>>
  const own = (names: readonly string[]): void => {
    const places = names === POLICY_ONLY ? {} : { [`in each policy of ${names[0]}`]: POLICY_ONLY }
    optionsOf('rateLimit', named, [...names, ...SHARED_RATE_OPTIONS, ...extra], places)
  }
  if (options?.plans !== undefined) {
    own(['plans', 'plan'])
    if (typeof options.plan !== 'function') {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `plan: expected a function that returns the plan of a request, received ${kindOf(options.plan)}`,
      )
    }
    if (isPlans<Req, Res>(options.plans)) return options.plans
    throw new SluiceError('SLUICE_BAD_OPTION', whyNoPlans(options.plans))
  }
  if (options?.policies !== undefined) {
    own(['policies'])
    const { policies } = options
    return { '': listOf<RequestPolicy<Req, Res>>(isChanging(policies) ? policies.current : policies) }
  }
  own(POLICY_ONLY)
  const policy = Object.fromEntries(
    POLICY_ONLY.flatMap((name) => (named[name] === undefined ? [] : [[name, named[name]]])),
  )
  return { '': [policy as unknown as RequestPolicy<Req, Res>] }
}

/** Returns the policies of `rateLimit` if they can change. */
export function changingPoliciesOf<Req, Res>(
  options: RateLimitOptions<Req, Res>,
): ChangingPolicies<Req, Res> | undefined {
  const { policies } = options
  return policies && isChanging(policies) ? policies : undefined
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
