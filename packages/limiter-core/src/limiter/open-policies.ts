import { defaultAlgorithm } from '../algorithms/default-algorithm.ts'
import { DRAINING } from '../algorithms/policy-forms.ts'
import { LARGEST_LOG } from '../algorithms/sliding-log.ts'
import { openBan } from '../ban/open-ban.ts'
import type { AlgorithmName, Backend, BanTerms, Clock, Observer, Policy } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf, shown } from '../errors/shown.ts'
import { claimCount, countName, defaultBackend, newPrivateScope, parseScope } from '../names/scope.ts'
import { optionalBoolean } from '../options/options.ts'
import { bansByPolicy } from '../policy/ban-options.ts'
import { DEFAULT_NAMES } from '../policy/default-names.ts'
import { type Mode, modeOf, parseMode } from '../policy/mode.ts'
import { compilePolicy, type PolicyInput } from '../policy/policy.ts'
import { PolicyVariants } from '../policy/policy-variants.ts'
import { clockOf } from '../time/clock.ts'
import { closeAll } from './close-all.ts'
import { OpenLimitCounters } from './limit-counters.ts'
import { warnIfOneOfSeveralProcesses } from './multi-process-warning.ts'
import type { OpenPolicy } from './open-policy.ts'
import { OverrideCounters } from './override-counters.ts'

/** Options that all policies of a limiter share. */
export interface CommonOptions {
  /** Stores the counts. Default: the process-wide memory backend, where limiters without `scope` share no counts. */
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

export interface OpenOptions extends CommonOptions {
  /** Scope on the backend passed as an option, if `scope` is not set. Default: `default`. */
  readonly routeScope?: string | undefined
  /** The limiter whose policies these are, if they can change; each change opens them again. Default: a new limiter. */
  readonly identity?: LimiterIdentity | undefined
}

/** A limiter whose policies can change. They keep their counts, which other limiters do not share by mistake. */
export interface LimiterIdentity {
  /** Scope on the process-wide memory backend, set when the policies are opened first. */
  privateScope?: string
}

/**
 * Opens the policies of each plan; a limiter without plans passes one. Policies with the same name in several plans
 * share a count, so that a client keeps its usage when its plan changes. Throws a `SluiceError` if an option or a
 * policy is invalid; then nothing stays open.
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
  const policiesByName = byName(policies.flat(), ({ name }) => name)
  const inputsByName = byName(plans.flat(), nameOf)
  const bans = bansByPolicy(plans.flat(), nameOf)
  const termsOf = (input: PolicyInput): BanTerms | undefined => input.ban && bans.get(nameOf(input))
  const scope = options.scope === undefined ? undefined : parseScope(options.scope)
  if (options.mode !== undefined) parseMode(options.mode, 'mode')
  if (options.backend !== undefined) backendOf(options.backend, 'backend')
  const shared = optionalBoolean('shared', options.shared)
  const memory = defaultBackend(options.clock)
  const fallback = options.backend ?? memory
  const scopeOn = (backend: Backend): string =>
    scope ?? (backend === memory ? privateScope() : (options.routeScope ?? 'default'))
  const limiter: LimiterIdentity = options.identity ?? {}
  const privateScope = (): string => {
    limiter.privateScope ??= newPrivateScope()
    return limiter.privateScope
  }
  const canChange = options.identity !== undefined
  const scaleOf = canChange ? scaleName : (): string => ''
  const changedLimit = canChange ? roomFor : (): number => 0
  const claim = (backend: Backend, ofName: readonly Policy[]): (() => void) => {
    // no other limiter uses this scope
    if (scopeOn(backend) === limiter.privateScope) return () => {}
    // on the process-wide memory backend, sharing is the only purpose of an explicit scope
    const ban = bans.get(ofName[0].name)
    const defined = ban ? ofName.map((policy) => ({ ...policy, ban })) : ofName
    return claimCount(backend, scopeOn(backend), defined, {
      limiter,
      canChange,
      shared: shared || backend === memory,
    })
  }
  const opened: (() => void)[] = []
  const open = (input: PolicyInput, policy: Policy): OpenPolicy => {
    const policiesOfName = policiesByName.get(policy.name) as readonly Policy[]
    const otherLimits = [
      overridden.get(policy.name) ?? 0,
      largestControlled(options.observers, policy.name),
      changedLimit(largest.get(policy.name) as number),
    ]
    const { backend: given = fallback } = input
    const backend = backendOf(given, `policy '${policy.name}': backend`)
    const inputsOfName = inputsByName.get(policy.name)
    requireSameBackend(policy, backend, new Set(inputsOfName?.map((other) => other.backend ?? fallback)))
    requireCalendars(policy, backend)
    requireTurns(policy, policiesOfName, backend)
    const variants = new PolicyVariants(policiesOfName, Math.max(...otherLimits), backend.keepsHolds)
    const mode = modeOf(options.mode, input.mode)
    const nameWith = (layout: string): string => countName(scopeOn(backend), policy, layout)
    const closes: (() => void)[] = []
    const close = closeAll(closes)
    opened.push(close)
    const name = nameWith(variants.layoutName + scaleOf(policy))
    const own = backend.open(variants.compile(policy), name)
    const counters = new OpenLimitCounters(
      own,
      (limit, windowMs) => variants.compile(policy, limit, windowMs),
      (compiled) => backend.open(compiled, nameOfWindow(name, policy, compiled.policy), true),
    )
    closes.push(() => counters.close())
    const overrides = input.overrides && new OverrideCounters(input.overrides, counters)
    if (input.overrides) closes.push(counters.follow(input.overrides))
    const ban = openBan(policy, termsOf(input), backend, closes, nameWith)
    closes.push(claim(backend, policiesOfName))
    return { policy, counter: own, counters, overrides, ban, backend, home: backend, mode, close }
  }
  try {
    const byPlan = plans.map((inputs, plan) => inputs.map((input, index) => open(input, policies[plan][index])))
    warnIfOneOfSeveralProcesses(byPlan.flat())
    return byPlan
  } catch (error) {
    closeAll(opened)()
    throw error
  }
}

function byName<T>(values: readonly T[], nameOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const named = new Map<string, T[]>()
  for (const value of values) named.set(nameOf(value), [...(named.get(nameOf(value)) ?? []), value])
  return named
}

/**
 * Returns what the meaning of cells depends on, for the names of counts of policies that can change: the rate at which
 * units drain, the length of windows, and the room of logs.
 */
function scaleName({ algorithm, limit, windowMs }: Policy): string {
  if (DRAINING.includes(algorithm)) return `/${limit}per${windowMs}`
  return algorithm === 'sliding-log' ? `/${windowMs}/${roomFor(limit)}` : `/${windowMs}`
}

/** Returns the name of the count of a window that requests have instead of the window of the policy. */
function nameOfWindow(name: string, { windowMs }: Policy, requested: Policy): string {
  return requested.windowMs === windowMs ? name : `${name}:${requested.windowMs}ms`
}

/** Smallest room of a log whose limit can change. */
const SMALLEST_ROOM = 32

/** Returns the room of a log whose limit can change: most changes of the limit then need no other log. */
function roomFor(limit: number): number {
  return Math.min(LARGEST_LOG, Math.max(SMALLEST_ROOM, 2 ** Math.ceil(Math.log2(limit))))
}

/** Returns the largest limit per policy name; NaN if a limit is not a number, which `compilePolicy` rejects later. */
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

/** Returns the largest limit that observers may set for a policy, at most `LARGEST_LOG`; 0 if they set none. */
function largestControlled(observers: readonly Observer[] = [], name: string): number {
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
  // `map` would skip holes of a sparse array
  const policies = Array.from(inputs, (input) => compilePolicy(input, unnamed(input)))
  const names = new Set<string>()
  for (const { name } of policies) {
    if (names.has(name)) {
      const unnamed = inputs.filter((input) => input.name === undefined).length
      const message =
        unnamed > 1
          ? `expected a name for each policy, as in { name: 'burst', … }, received ${unnamed} policies without a name`
          : `expected unique names, received two policies named '${name}'`
      throw new SluiceError('SLUICE_DUPLICATE_POLICY', `policies: ${message}`)
    }
    names.add(name)
  }
  return policies
}

/** Throws unless policies of the same name have the same backend in all plans, where their shared count is stored. */
function requireSameBackend({ name }: Policy, own: Backend, backends: ReadonlySet<Backend>): void {
  const other = [...backends].find((backend) => backend !== own)
  if (!other) return
  throw new SluiceError(
    'SLUICE_BAD_POLICY',
    `policy '${name}': backend: expected the same backend in all plans, ` +
      `received ${shown(own.name, 'name')} and ${shown(other.name, 'name')}; ` +
      'policies with the same name share one count, so use different names to count separately',
  )
}

/** Throws if a policy has a calendar and its backend supports only windows of a fixed length. */
function requireCalendars({ name, calendar }: Policy, backend: Backend): void {
  if (!calendar || backend.keepsCalendars === true) return
  throw new SluiceError(
    'SLUICE_BAD_POLICY',
    `policy '${name}': calendar: expected a quota backend, ` +
      `received backend ${shown(backend.name, 'name')}, which does not support calendars`,
  )
}

/** Throws if denied callers of a policy cannot book turns on its backend, or under some of its plans. */
function requireTurns({ name, retry }: Policy, ofName: readonly Policy[], backend: Backend): void {
  const option = `policy '${name}': retry`
  if (ofName.some((other) => other.retry !== retry)) throw badOption(option, retry, 'the same value in all plans')
  if (retry === undefined || backend.booksTurns === true) return
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${option}: expected a backend that books turns, such as memoryBackend() or redisBackend(client), ` +
      `received backend ${shown(backend.name, 'name')}`,
  )
}

/** Returns `value` if it is a backend; throws `SLUICE_BAD_OPTION` otherwise. */
export function backendOf(value: unknown, option: string): Backend {
  const backend = value as Backend | null
  if (typeof backend?.open === 'function' && typeof backend.takeAll === 'function') return backend
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${option}: expected a backend such as memoryBackend() or redisBackend(client), received ${kindOf(value)}`,
  )
}
