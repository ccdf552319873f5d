import { defaultAlgorithm } from '../algorithms/policy-forms.ts'
import { LARGEST_LOG } from '../algorithms/sliding-log.ts'
import { openBan } from '../ban/open-ban.ts'
import type { AlgorithmName, Backend, BanTerms, Clock, Observer, Policy } from '../contracts.ts'
import { badOption, badValue } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf, shown } from '../errors/shown.ts'
import { claimCount, countName, defaultBackend, newPrivateScope, parseScope } from '../names/scope.ts'
import { optionalBoolean } from '../options/options.ts'
import { bansByPolicy } from '../policy/ban-options.ts'
import { DEFAULT_NAMES } from '../policy/default-names.ts'
import { type Mode, modeOf, parseMode } from '../policy/mode.ts'
import { compilePolicy, type PolicyInput } from '../policy/policy.ts'
import { nameOfWindow, PolicyVariants, roomFor, scaleName } from '../policy/policy-variants.ts'
import { clockOf } from '../time/clock.ts'
import { OpenLimitCounters } from './limit-counters.ts'
import { warnIfOneOfSeveralProcesses } from './multi-process-warning.ts'
import { closeAll, type OpenPolicy } from './open-policy.ts'
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
  const opener = new PolicyOpener(plans, options)
  try {
    const byPlan = plans.map((inputs, plan) => inputs.map((input, index) => opener.open(input, plan, index)))
    for (const plan of byPlan) requireRoom(plan)
    warnIfOneOfSeveralProcesses(byPlan.flat())
    return byPlan
  } catch (error) {
    opener.close()
    throw error
  }
}

/** Opens the policies of one limiter one after another. */
class PolicyOpener {
  readonly #options: OpenOptions
  readonly #limiter: LimiterIdentity
  readonly #scope: string | undefined
  readonly #shared: boolean
  /** Backend of policies without a scope of their own. */
  readonly #memory: Backend
  /** By plan. */
  readonly #policies: readonly (readonly Policy[])[]
  readonly #policiesOf: ReadonlyMap<string, readonly Policy[]>
  readonly #inputsOf: ReadonlyMap<string, readonly PolicyInput[]>
  readonly #bans: ReadonlyMap<string, BanTerms>
  readonly #opened: (() => void)[] = []

  constructor(plans: readonly (readonly PolicyInput[])[], options: OpenOptions) {
    const { backend, clock, identity = {}, mode, scope, shared } = options
    clockOf(clock)
    this.#options = options
    this.#limiter = identity
    this.#inputsOf = byName(plans.flat(), nameOf)
    this.#policies = plans.map((inputs) => compilePlan(inputs, (input) => this.#algorithmOf(input)))
    this.#policiesOf = byName(this.#policies.flat(), ({ name }) => name)
    this.#bans = bansByPolicy(plans.flat(), nameOf)
    this.#scope = scope === undefined ? undefined : parseScope(scope)
    if (mode !== undefined) parseMode(mode, 'mode')
    if (backend !== undefined) backendOf(backend, 'backend')
    this.#shared = optionalBoolean('shared', shared)
    this.#memory = defaultBackend(clock)
  }

  /** Opens the policy of an input, by its place. Throws a `SluiceError` if it is invalid. */
  open(input: PolicyInput, plan: number, index: number): OpenPolicy {
    const policy = this.#policies[plan][index]
    const ofName = this.#policiesOf.get(policy.name) as readonly Policy[]
    const backend = this.#backendFor(input, policy, ofName)
    const variants = new PolicyVariants(ofName, this.#largestOther(policy.name), backend.keepsHolds)
    const mode = modeOf(this.#options.mode, input.mode)
    const nameWith = (layout: string): string => countName(this.#scopeOn(backend), policy, layout)
    const closes: (() => void)[] = []
    const close = closeAll(closes)
    this.#opened.push(close)
    const name = nameWith(variants.layoutName + (this.#canChange ? scaleName(policy) : ''))
    const own = backend.open(variants.compile(policy), name)
    const counters = new OpenLimitCounters(
      own,
      (limit, windowMs) => variants.compile(policy, limit, windowMs),
      (compiled) => backend.open(compiled, nameOfWindow(name, policy, compiled.policy), true),
    )
    closes.push(() => counters.close())
    const overrides = input.overrides && new OverrideCounters(input.overrides, counters)
    if (input.overrides) closes.push(counters.follow(input.overrides))
    const ban = openBan(policy, input.ban && this.#bans.get(policy.name), backend, closes, nameWith)
    closes.push(this.#claim(backend, ofName))
    return { policy, counter: own, counters, overrides, ban, backend, home: backend, mode, close }
  }

  /** Closes what is open. */
  close(): void {
    closeAll(this.#opened)()
  }

  get #canChange(): boolean {
    return this.#options.identity !== undefined
  }

  /** Returns the algorithm of policies that set none. */
  #algorithmOf(input: PolicyInput): AlgorithmName {
    // a hole of a sparse array is rejected later
    const inputs = this.#inputsOf.get(nameOf(input)) ?? []
    const largest = Math.max(largestLimit(inputs), largestOverride(inputs))
    return defaultAlgorithm(largest, input?.backend ?? this.#options.backend ?? {})
  }

  #backendFor(input: PolicyInput, policy: Policy, ofName: readonly Policy[]): Backend {
    const fallback = this.#options.backend ?? this.#memory
    const { backend: given = fallback } = input
    const backend = backendOf(given, `policy '${policy.name}': backend`)
    const inputs = this.#inputsOf.get(policy.name) as readonly PolicyInput[]
    requireSameBackend(policy, backend, new Set(inputs.map((other) => other.backend ?? fallback)))
    requireSupport(policy, ofName, backend)
    return backend
  }

  /** Returns the largest limit that an override, an operator or a change may set. */
  #largestOther(name: string): number {
    const inputs = this.#inputsOf.get(name) as readonly PolicyInput[]
    const changed = this.#canChange ? roomFor(largestLimit(inputs)) : 0
    return Math.max(largestOverride(inputs), largestControlled(this.#options.observers, name), changed)
  }

  #scopeOn(backend: Backend): string {
    if (this.#scope !== undefined) return this.#scope
    if (backend !== this.#memory) return this.#options.routeScope ?? 'default'
    this.#limiter.privateScope ??= newPrivateScope()
    return this.#limiter.privateScope
  }

  #claim(backend: Backend, ofName: readonly Policy[]): () => void {
    const scope = this.#scopeOn(backend)
    // no other limiter uses this scope
    if (scope === this.#limiter.privateScope) return () => {}
    const ban = this.#bans.get(ofName[0].name)
    const defined = ban ? ofName.map((policy) => ({ ...policy, ban })) : ofName
    return claimCount(backend, scope, defined, {
      limiter: this.#limiter,
      canChange: this.#canChange,
      // on the process-wide memory backend, sharing is the only purpose of an explicit scope
      shared: this.#shared || backend === this.#memory,
    })
  }
}

function byName<T>(values: readonly T[], nameOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const named = new Map<string, T[]>()
  for (const value of values) named.set(nameOf(value), [...(named.get(nameOf(value)) ?? []), value])
  return named
}

/** Returns the largest limit; NaN if a limit is not a number, which `compilePolicy` rejects later. */
function largestLimit(inputs: readonly PolicyInput[]): number {
  return Math.max(...inputs.map((input) => numberOr(Number.NaN, input?.limit)))
}

function largestOverride(inputs: readonly PolicyInput[]): number {
  return Math.max(...inputs.map((input) => numberOr(0, input?.overrides?.largestLimit)))
}

function numberOr(other: number, value: unknown): number {
  return typeof value === 'number' ? value : other
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

/** Throws if a policy needs what its backend does not support, or books turns under only some of its plans. */
function requireSupport({ name, calendar, retry }: Policy, ofName: readonly Policy[], backend: Backend): void {
  const received = `received backend ${shown(backend.name, 'name')}`
  if (calendar && !backend.keepsCalendars) {
    throw new SluiceError('SLUICE_BAD_POLICY', `policy '${name}': calendar: expected a quota backend, ${received}`)
  }
  const option = `policy '${name}': retry`
  if (ofName.some((other) => other.retry !== retry)) throw badOption(option, retry, 'the same value in all plans')
  if (!retry || backend.booksTurns) return
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected a backend that books turns, ${received}`)
}

/** Throws if a request changes more counts than one of its backends does at once. A ban is a count beside its policy. */
function requireRoom(plan: readonly OpenPolicy[]): void {
  for (const { home, ban } of plan) {
    const counts = plan.filter((other) => other.home === home).length + (ban ? 1 : 0)
    if (counts <= (home.maxCounts ?? counts)) continue
    const option = `policies and bans of backend ${shown(home.name, 'name')}`
    throw badValue('SLUICE_BAD_POLICY', option, counts, `at most ${home.maxCounts}`)
  }
}

/** Returns `value` if it is a backend; throws `SLUICE_BAD_OPTION` otherwise. */
export function backendOf(value: unknown, option: string): Backend {
  const backend = value as Backend | null
  if (typeof backend?.open === 'function' && typeof backend.takeAll === 'function') return backend
  throw badOption(option, value, 'a backend such as memoryBackend() or redisBackend(client)')
}
