import type { Answer, Backend, Decision } from '../contracts.ts'
import { compileFailover, type FailoverOptions } from '../failover/failover-options.ts'
import { Observers } from '../observers/observers.ts'
import { optionsOf, POLICY_ONLY } from '../options/options.ts'
import type { PolicyInput } from '../policy/policy.ts'
import type { Limiter } from './limiter.ts'
import { type CommonOptions, openPolicies } from './open-policies.ts'
import { PolicyLimiter } from './policy-limiter.ts'

/** Options of a limiter with several policies. */
export interface LimiterOptions extends CommonOptions, FailoverOptions {
  /** A call takes units from all policies, or from none if one of them denies it. */
  readonly policies: readonly PolicyInput[]
}

/** Options with synchronous backends only: the limiter returns decisions, not promises. */
export interface SyncLimiterOptions extends LimiterOptions {
  readonly policies: readonly (PolicyInput & { readonly backend?: Backend<Answer> })[]
  readonly backend?: Backend<Answer> | undefined
}

/** Options of a limiter with one policy, whose options are given directly. */
export interface OnePolicyLimiterOptions extends CommonOptions, FailoverOptions, Omit<PolicyInput, 'backend' | 'mode'> {
  readonly policies?: undefined
}

/** Options of a limiter with one policy and a synchronous backend: the limiter returns decisions, not promises. */
export interface SyncOnePolicyLimiterOptions extends OnePolicyLimiterOptions {
  readonly backend?: Backend<Answer> | undefined
}

const SHARED_OPTIONS = [
  'backend',
  'scope',
  'shared',
  'mode',
  'clock',
  'observers',
  'onBackendError',
  'deadlineMs',
] as const

/**
 * Creates a limiter: `createLimiter({ limit: 100, window: '1m' })`, or with several `policies`. Throws a `SluiceError` if
 * an option is invalid; see `docs/errors.md`.
 */
export function createLimiter(options: SyncLimiterOptions | SyncOnePolicyLimiterOptions): Limiter<Decision>
export function createLimiter(options: LimiterOptions | OnePolicyLimiterOptions): Limiter
export function createLimiter(options: LimiterOptions | OnePolicyLimiterOptions): Limiter {
  const inputs = policiesOf(options)
  const observers = new Observers(options.observers, () => policies.map(({ policy }) => policy.name))
  const failover = compileFailover(options)
  // last, because it claims names that nothing would release if another option were invalid
  const [policies] = openPolicies([inputs], options)
  return new PolicyLimiter(policies, options.clock, observers, failover)
}

/** Returns the policies of the options. Throws `SLUICE_BAD_OPTION` for unknown options. */
function policiesOf(options: LimiterOptions | OnePolicyLimiterOptions): readonly PolicyInput[] {
  const given: Readonly<Record<string, unknown>> = { ...options }
  const own = POLICY_ONLY.filter((name) => given[name] !== undefined)
  const isOne = given.policies === undefined && own.length > 0
  const names: readonly string[] = isOne ? POLICY_ONLY : ['policies']
  optionsOf('createLimiter', options as unknown as typeof given, [...names, ...SHARED_OPTIONS])
  if (!isOne) return given.policies as readonly PolicyInput[]
  return [Object.fromEntries(own.map((name) => [name, given[name]])) as unknown as PolicyInput]
}
