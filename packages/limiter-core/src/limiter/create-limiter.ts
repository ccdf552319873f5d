import type { Answer, Backend, Clock, Decision, Observer } from '../contracts.ts'
import { compileFailover, type FailoverOptions } from '../failover/failover-options.ts'
import { Observers } from '../observers/observers.ts'
import { optionsOf } from '../options/options.ts'
import type { Mode } from '../policy/mode.ts'
import type { PolicyInput } from '../policy/policy.ts'
import { type Limiter, PolicyLimiter } from './limiter.ts'
import { openPolicies } from './open-policies.ts'

export interface LimiterOptions extends FailoverOptions {
  readonly policies: readonly PolicyInput[]
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

/** Options with synchronous backends only: the limiter returns decisions, not promises. */
export interface SyncLimiterOptions extends LimiterOptions {
  readonly policies: readonly (PolicyInput & { readonly backend?: Backend<Answer> })[]
  readonly backend?: Backend<Answer> | undefined
}

const OPTIONS = [
  'policies',
  'backend',
  'scope',
  'shared',
  'mode',
  'clock',
  'observers',
  'onBackendError',
  'deadlineMs',
] as const

/** Creates a limiter. Throws a `SluiceError` if an option is invalid; see `docs/errors.md`. */
export function createLimiter(options: SyncLimiterOptions): Limiter<Decision>
export function createLimiter(options: LimiterOptions): Limiter
export function createLimiter(options: LimiterOptions): Limiter {
  optionsOf('createLimiter', options, OPTIONS)
  const observers = new Observers(options.observers, () => policies.map(({ policy }) => policy.name))
  const failover = compileFailover(options)
  // last, because it claims names that nothing would release if another option were invalid
  const [policies] = openPolicies([options.policies], options)
  return new PolicyLimiter(policies, options.clock, observers, failover)
}
