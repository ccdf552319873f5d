import { defaultAlgorithm } from '../algorithms/default-algorithm.ts'
import { LARGEST_LOG } from '../algorithms/sliding-log.ts'
import type { AlgorithmName, Backend, Clock, Observer, Policy } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf, shown } from '../errors/shown.ts'
import { optionalBoolean } from '../options/options.ts'
import { DEFAULT_NAMES } from '../policy/default-names.ts'
import { type Mode, modeOf, parseMode } from '../policy/mode.ts'
import { compilePolicy, type PolicyInput } from '../policy/policy.ts'
import { PolicyVariants } from '../policy/policy-variants.ts'
import { clockOf } from '../time/clock.ts'
import { OpenLimitCounters } from './limit-counters.ts'
import { warnWhereOneOfSeveral } from './one-of-several.ts'
import type { OpenPolicy } from './open-policy.ts'
import { OverrideCounters } from './override-counters.ts'
import { claimCount, countName, defaultBackend, ownScope, parseScope } from './scope.ts'

export interface OpenOptions {
  readonly backend?: Backend | undefined
  readonly scope?: string | undefined
  /** The scope on a backend that was handed in, where none is named; default: `default`. */
  readonly routeScope?: string | undefined
  /** Says that its counts are those of other limiters, too. */
  readonly shared?: boolean | undefined
  readonly mode?: Mode | undefined
  /** Some of them change limits while a limiter runs. */
  readonly observers?: readonly Observer[] | undefined
  /** Without a backend limiters of one clock count in memory of their own, so that no two clocks meet. */
  readonly clock?: Clock | undefined
}

/**
 * Opens the policies of each plan (one plan where there are none). Policies of the same name in several plans are one
 * count, so that a client who changes plan keeps what is used.
 */
export function openPolicies(plans: readonly (readonly PolicyInput[])[], options: OpenOptions): OpenPolicy[][] {
  clockOf(options.clock)
  const largest = largestOf(plans, ({ limit }) => limit)
  const overridden = largestOf(plans, ({ overrides }) => overrides?.largestLimit ?? 0)
  const largestOfName = (name: string): number => Math.max(largest.get(name) as number, overridden.get(name) as number)
  const policies = plans.map((inputs) =>
    compilePlan(inputs, (input) =>
      defaultAlgorithm(largestOfName(nameOf(input)), input?.backend ?? options.backend ?? {}),
    ),
  )
  const steeredTo = (name: string): number => largestSteered(options.observers, name)
  const scope = options.scope === undefined ? undefined : parseScope(options.scope)
  if (options.mode !== undefined) parseMode(options.mode, 'mode')
  if (options.backend !== undefined) backendOf(options.backend, 'backend')
  const shared = optionalBoolean('shared', options.shared)
  const memory = defaultBackend(options.clock)
  const fallback = options.backend ?? memory
  const scopeOn = (backend: Backend): string =>
    scope ?? (backend === memory ? unshared() : (options.routeScope ?? 'default'))
  let own: string | undefined
  const unshared = (): string => {
    own ??= ownScope()
    return own
  }
  const limiter = {}
  const claim = (backend: Backend, ofName: readonly Policy[]): (() => void) => {
    // nobody else can claim a name in a scope that is a limiter's own
    if (scopeOn(backend) === own) return () => {}
    // to share is all that a scope is for in the memory of the process
    return claimCount(backend, scopeOn(backend), ofName, { limiter, shared: shared || backend === memory })
  }
  const opened: (() => void)[] = []
  const open = (input: PolicyInput, policy: Policy): OpenPolicy => {
    const policiesOfName = policies.flat().filter(({ name }) => name === policy.name)
    const variants = new PolicyVariants(
      policiesOfName,
      Math.max(overridden.get(policy.name) ?? 0, steeredTo(policy.name)),
    )
    const backend = backendOf(input.backend ?? fallback, `policy '${policy.name}': backend`)
    for (const [plan, others] of policies.entries()) {
      const index = others.findIndex(({ name }) => name === policy.name)
      if (index >= 0) oneBackend(policy, backend, plans[plan][index].backend ?? fallback)
    }
    keepsCalendar(policy, backend)
    const mode = modeOf(options.mode, input.mode)
    const name = countName(scopeOn(backend), policy, variants.countedAs)
    const closes: (() => void)[] = []
    const close = (): void => closeAll(closes)
    opened.push(close)
    const own = backend.open(variants.compile(policy), name)
    const counters = new OpenLimitCounters(
      own,
      (limit) => variants.compile(policy, limit),
      (compiled) => backend.open(compiled, name, true),
    )
    closes.push(() => counters.close())
    const overrides = input.overrides && new OverrideCounters(input.overrides, counters)
    if (overrides) closes.push(() => overrides.close())
    overrides?.join()
    closes.push(claim(backend, policiesOfName))
    return { policy, counter: own, counters, overrides, backend, mode, close }
  }
  try {
    const byPlan = plans.map((inputs, plan) => inputs.map((input, index) => open(input, policies[plan][index])))
    warnWhereOneOfSeveral(byPlan.flat())
    return byPlan
  } catch (error) {
    // one that is refused leaves nothing behind
    closeAll(opened)
    throw error
  }
}

/** Once. */
function closeAll(closes: (() => void)[]): void {
  for (const close of closes.splice(0)) close()
}

/** By the names of policies; of what is no policy it says nothing. */
function largestOf(
  plans: readonly (readonly PolicyInput[])[],
  limitOf: (input: PolicyInput) => number,
): ReadonlyMap<string, number> {
  const largest = new Map<string, number>()
  for (const input of plans.flat()) {
    const name = nameOf(input)
    const given: unknown = input && limitOf(input)
    largest.set(name, Math.max(typeof given === 'number' ? given : Number.NaN, largest.get(name) ?? 0))
  }
  return largest
}

/** The largest limit that observers may ever give a policy, as far as a log has room; 0 where they give none. */
function largestSteered(observers: readonly Observer[] = [], name: string): number {
  const limits = observers.map((observer) => observer.largestLimit?.(name) ?? 0)
  return Math.min(LARGEST_LOG, Math.max(0, ...limits))
}

function nameOf(input: PolicyInput): string {
  return input?.name ?? DEFAULT_NAMES.rateLimit
}

function compilePlan(inputs: readonly PolicyInput[], unnamed: (input: PolicyInput) => AlgorithmName): Policy[] {
  if (!Array.isArray(inputs) || inputs.length === 0) {
    throw new SluiceError('SLUICE_BAD_OPTION', `policies: expected at least one policy, received ${kindOf(inputs)}`)
  }
  // not `map`, which would pass over holes
  const policies = Array.from(inputs, (input) => compilePolicy(input, unnamed(input)))
  const names = new Set<string>()
  for (const { name } of policies) {
    if (names.has(name)) {
      throw new SluiceError(
        'SLUICE_DUPLICATE_POLICY',
        `policies: expected names of their own, received two named '${name}'`,
      )
    }
    names.add(name)
  }
  return policies
}

/** One backend holds what is used under every plan. */
function oneBackend({ name }: Policy, one: Backend, other: Backend): void {
  if (one === other) return
  throw new SluiceError(
    'SLUICE_BAD_POLICY',
    `policy '${name}': backend: expected one backend , received ${shown(one.name, 'name')} and ${shown(other.name, 'name')} in several plans` +
      'for all of them, which counts together what is used under each; give policies names of their own to count them apart',
  )
}

/** Counted by a window of fixed length a calendar would be a promise that nobody keeps. */
function keepsCalendar({ name, calendar }: Policy, backend: Backend): void {
  if (!calendar || backend.keepsCalendars === true) return
  throw new SluiceError(
    'SLUICE_BAD_POLICY',
    `policy '${name}': calendar: expected one of quotas, received backend ${shown(backend.name, 'name')}, which keeps no calendars`,
  )
}

function backendOf(value: unknown, option: string): Backend {
  const backend = value as Backend | null
  if (typeof backend?.open === 'function' && typeof backend.takeAll === 'function') return backend
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${option}: expected a backend such as memoryBackend() or redisBackend(client), received ${kindOf(value)}`,
  )
}
