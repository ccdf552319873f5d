import type { Answer, Backend, Clock, Decision, Observer } from '../contracts.ts'
import { compileFailover, type FailoverOptions } from '../failover/failover-options.ts'
import { Observers } from '../observers/observers.ts'
import { optionsOf, POLICY_ONLY } from '../options/options.ts'
import type { Mode } from '../policy/mode.ts'
import type { PolicyInput } from '../policy/policy.ts'
import type { Limiter } from './limiter.ts'
import { openPolicies } from './open-policies.ts'
import { PolicyLimiter } from './policy-limiter.ts'

interface SharedLimiterOptions extends FailoverOptions {
  /**
   * Stores the counts. Default: the process-wide memory backend, where limiters without `scope` do not share counts.
   */
  readonly backend?: Backend | undefined
  /**
   * Namespace of the counts on a backend: 1 to 128 characters that do not start with `#`. Limiters with the same scope
   * and the same policies share their counts. Default: `default` on the backend passed as an option.
   */
  readonly scope?: string | undefined
  /**
   * Whether sharing counts with a limiter of the same scope and policies is intended. Otherwise sharing causes a
   * warning, or `SLUICE_UNNAMED_LIMITER` if the policies have no names. Default: false.
   */
  readonly shared?: boolean | undefined
  readonly mode?: Mode | undefined
  readonly clock?: Clock | undefined
  readonly observers?: readonly Observer[] | undefined
}

/** Options of a limiter with several policies. */
export interface LimiterOptions extends SharedLimiterOptions {
  /** A call takes units from all policies, or from none if one of them denies it. */
  readonly policies: readonly PolicyInput[]
}

/** Options with synchronous backends only: the limiter returns decisions, not promises. */
export interface SyncLimiterOptions extends LimiterOptions {
  readonly policies: readonly (PolicyInput & { readonly backend?: Backend<Answer> })[]
  readonly backend?: Backend<Answer> | undefined
}

/** Options of a limiter with one policy, whose options are given directly. */
export interface OnePolicyLimiterOptions extends SharedLimiterOptions, Omit<PolicyInput, 'backend' | 'mode'> {
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
