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
  /** Where counts live; default: the process-wide memory backend, where every limiter has a scope of its own. */
  readonly backend?: Backend | undefined
  /** Names the counts on a backend: limiters with equal scopes and policies share them. */
  readonly scope?: string | undefined
  /** True where the limiter is to share its counts: another one of equal scope and names is no mistake then. */
  readonly shared?: boolean | undefined
  readonly mode?: Mode | undefined
  readonly clock?: Clock | undefined
  readonly observers?: readonly Observer[] | undefined
}

/** Options with which every answer is at hand at once. */
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

/** Builds a limiter. Throws coded errors for bad options; see `docs/errors.md`. */
export function createLimiter(options: SyncLimiterOptions): Limiter<Decision>
export function createLimiter(options: LimiterOptions): Limiter
export function createLimiter(options: LimiterOptions): Limiter {
  optionsOf('createLimiter', options, OPTIONS)
  const observers = new Observers(options.observers, () => policies.map(({ policy }) => policy.name))
  const failover = compileFailover(options)
  // last, since it claims names that nobody would give back if another option were bad
  const [policies] = openPolicies([options.policies], options)
  return new PolicyLimiter(policies, options.clock, observers, failover)
}
