import { algorithms } from './algorithms/index.ts'
import { clockOf } from './clock.ts'
import type { Backend, Clock, Policy, Step } from './contracts.ts'
import { SluiceError, shown } from './errors.ts'
import { warnWhereOneOfSeveral } from './memory/one-of-several.ts'
import { type Mode, modeOf, parseMode } from './mode.ts'
import { compilePolicy, type PolicyInput } from './policy.ts'
import { claimCount, countName, defaultBackend, ownScope, parseScope } from './scope.ts'

/** A policy, ready to be charged. */
export interface Lane {
  readonly step: Step
  readonly count: string
  readonly backend: Backend
  readonly mode: Mode
  /** Gives the name of the count back. */
  readonly unclaim: () => void
}

export interface LaneOptions {
  readonly backend?: Backend | undefined
  readonly scope?: string | undefined
  /** The scope on a backend that was handed in, where none is said; `default` unless said. */
  readonly place?: string | undefined
  readonly mode?: Mode | undefined
  /** Without a backend limiters of one clock count in memory of their own, so that no two clocks meet. */
  readonly clock?: Clock | undefined
}

/**
 * Compiles the policies of each plan (one plan where there are none). Policies of the same name in several plans share
 * their counts, so that a client who changes plan keeps what is used.
 */
export function compileLanes(plans: readonly (readonly PolicyInput[])[], options: LaneOptions): Lane[][] {
  clockOf(options.clock)
  const policies = plans.map((inputs) => compilePlan(inputs))
  const scope = options.scope === undefined ? undefined : parseScope(options.scope)
  if (options.mode !== undefined) parseMode(options.mode, 'mode')
  if (options.backend !== undefined) backendOf(options.backend, 'backend')
  const memory = defaultBackend(options.clock)
  const fallback = options.backend ?? memory
  const scopeOn = (backend: Backend): string =>
    scope ?? (backend === memory ? unshared() : (options.place ?? 'default'))
  let own: string | undefined
  const unshared = (): string => {
    own ??= ownScope()
    return own
  }
  const unclaimed = plans.map((inputs, plan) =>
    inputs.map((input, index) => {
      const policy = policies[plan][index]
      const variants = policies.flat().filter((other) => other.name === policy.name)
      const backend = backendOf(input.backend ?? fallback, `policy '${policy.name}': backend`)
      const largest = Math.max(...sameAlgorithm(variants, policy).map((variant) => variant.limit))
      const step = algorithms[policy.algorithm].compile(policy, largest)
      const count = countName(scopeOn(backend), policy, step.version)
      backend.prepare?.(step, count)
      return { step, count, backend, mode: modeOf(options.mode, input.mode), variants }
    }),
  )
  // names are claimed once every policy is known to be good
  return unclaimed.map((lanes) =>
    lanes.map(({ variants, ...lane }) => {
      const { backend, mode } = lane
      // nobody else can claim a name in a scope that is a limiter's own
      const unclaim = scopeOn(backend) === own ? () => {} : claimCount(backend, scopeOn(backend), variants)
      if (mode !== 'off') warnWhereOneOfSeveral(backend)
      return { ...lane, unclaim }
    }),
  )
}

function sameAlgorithm(variants: readonly Policy[], policy: Policy): Policy[] {
  return variants.filter((variant) => variant.algorithm === policy.algorithm)
}

function compilePlan(inputs: readonly PolicyInput[]): Policy[] {
  if (!Array.isArray(inputs) || inputs.length === 0) {
    throw new SluiceError('SLUICE_BAD_OPTION', `policies: got ${shown(inputs)}, expected at least one policy`)
  }
  // not `map`, which would pass over holes
  const policies = Array.from(inputs, (input) => compilePolicy(input))
  const names = new Set<string>()
  for (const { name } of policies) {
    if (names.has(name)) {
      throw new SluiceError('SLUICE_DUPLICATE_POLICY', `policies: got two named '${name}', expected names of their own`)
    }
    names.add(name)
  }
  return policies
}

function backendOf(value: unknown, option: string): Backend {
  const backend = value as Backend | null
  if (typeof backend?.take === 'function' && typeof backend.adjust === 'function') return backend
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${option}: got ${shown(value)}, expected a backend such as memoryBackend() or redisBackend(client)`,
  )
}
