import { BookingPolicy } from '../algorithms/booking-policy.ts'
import { CompiledVariants, cellsOf } from '../algorithms/compiled-variants.ts'
import { HoldingPolicy, holdsName, sliceMsOf } from '../algorithms/holding-policy.ts'
import { algorithms } from '../algorithms/index.ts'
import { alwaysFits, capacityOf, DRAINING, drainPerMs, formOf } from '../algorithms/policy-forms.ts'
import { LARGEST_LOG } from '../algorithms/sliding-log.ts'
import type { CompiledPolicy, Policy, PolicyVariant } from '../contracts.ts'

/** Incremented when the format of the stored state of policies with a calendar changes. */
const CALENDARS_VERSION = 1

/**
 * The policies with one name in several plans. Policies with the same form, see `formOf`, share cells and compare them
 * with their own limit. Policies with different forms have separate cells, and usage under one plan is charged to all
 * of them.
 */
export class PolicyVariants {
  readonly #policies: readonly Policy[]
  /** The policies of each form. Sorted, so that the cell layout does not depend on the order of the plans. */
  readonly #forms: readonly (readonly Policy[])[]
  readonly #largestOverride: number
  /** Longest hold of any plan; 0 if no units are held. */
  readonly #maxHoldMs: number

  /**
   * `largestOverride` is the largest override limit of any plan, or 0. `keepsHolds`: whether the backend holds units,
   * see `Backend.keepsHolds`.
   */
  constructor(policies: readonly Policy[], largestOverride = 0, keepsHolds = false) {
    const byForm = new Map<string, Policy[]>()
    for (const policy of policies) byForm.set(formOf(policy), [...(byForm.get(formOf(policy)) ?? []), policy])
    this.#policies = policies
    this.#largestOverride = largestOverride
    this.#maxHoldMs = keepsHolds ? Math.max(...policies.map(({ maxHoldMs = 0 }) => maxHoldMs)) : 0
    this.#forms = [...byForm.values()].sort(([a], [b]) => compared(a, b))
  }

  /**
   * Compiles one of the policies. Keys with an override have another `limit` but use the same cells; another window has
   * cells of its own, which all plans share. Throws a `SluiceError` if the algorithm cannot count the policy.
   */
  compile(policy: Policy, limit: number = policy.limit, windowMs: number = policy.windowMs): CompiledPolicy {
    if (windowMs !== policy.windowMs) return this.#compileDuring(policy, limit, windowMs)
    const compiled = this.#compile(policy, limit)
    const held = this.#maxHoldMs === 0 ? compiled : new HoldingPolicy(compiled, sliceMsOf(this.#maxHoldMs))
    return policy.retry === 'booked' ? new BookingPolicy(held) : held
  }

  /** Compiles a policy with another window. The limits of others may be larger than gcra can count in this window. */
  #compileDuring(policy: Policy, limit: number, windowMs: number): CompiledPolicy {
    const limitOf = (one: Policy): number => (one.algorithm === 'gcra' ? Math.min(one.limit, windowMs) : one.limit)
    const during = this.#policies.map((one) => ({ ...one, limit: limitOf(one), windowMs }))
    const variants = new PolicyVariants(during, this.#largestOverride, this.#maxHoldMs > 0)
    return variants.compile(during[this.#policies.indexOf(policy)], limit)
  }

  #compile(policy: Policy, limit: number): CompiledPolicy {
    const own = limit === policy.limit ? policy : { ...policy, limit }
    if (this.#forms.length === 1) return algorithms[own.algorithm].compile(own, this.#roomOf(own, this.#policies))
    const ceiling = Math.max(...this.#policies.map(capacityOf))
    const variants: PolicyVariant[] = []
    for (const form of this.#forms) {
      const byCapacity = form.toSorted((a, b) => capacityOf(a) - capacityOf(b))
      const larger = byCapacity.find((other) => alwaysFits(own, other))
      const role = form.includes(policy) ? 'own' : larger ? 'larger' : 'charged'
      // a smaller limit would hide usage under another plan of the form
      const read = role === 'own' ? own : (larger ?? byCapacity[form.length - 1])
      const compiled = algorithms[read.algorithm].compile(read, this.#roomOf(read, form), true)
      const at = variants.reduce((sum, variant) => sum + cellsOf(variant), 0)
      variants.push({ compiled, at, role, perMs: drainPerMs(read), ceiling })
    }
    return new CompiledVariants(variants)
  }

  /** Returns the largest limit for which a policy's cells need room. All keys of a log must have equal room. */
  #roomOf({ algorithm, limit }: Policy, form: readonly Policy[]): number {
    const override = algorithm === 'sliding-log' ? this.#largestOverride : 0
    return Math.max(
      limit,
      ...form.map((one) => one.limit),
      override < Number.POSITIVE_INFINITY ? override : LARGEST_LOG,
    )
  }

  /** Last part of the name of a count, which identifies the cell layout: `algorithm@version`, one per form, and holds or turns. */
  get layoutName(): string {
    const holds = this.#maxHoldMs === 0 ? '' : holdsName(sliceMsOf(this.#maxHoldMs))
    const more = this.#policies[0].retry === 'booked' ? `${holds}/booked` : holds
    if (this.#forms.length === 1) return cellsName(this.#forms[0][0], 1) + more
    return this.#forms.map(([policy]) => cellsName(policy, policy.slices ?? 1)).join('+') + more
  }
}

function compared(a: Policy, b: Policy): number {
  if (a.algorithm !== b.algorithm) return a.algorithm < b.algorithm ? -1 : 1
  const byLength = drainPerMs(a) - drainPerMs(b) || a.windowMs - b.windowMs || (a.slices ?? 1) - (b.slices ?? 1)
  return byLength || (formOf(a) < formOf(b) ? -1 : 1)
}

function cellsName({ algorithm, calendar }: Policy, slices: number): string {
  if (calendar) return `calendar-${calendar.per}@${CALENDARS_VERSION}`
  const name = `${algorithm}@${algorithms[algorithm].version}`
  return slices > 1 ? `${name}/${slices}` : name
}

/**
 * Returns what the meaning of cells depends on, for the names of counts of policies that can change: the rate at which
 * units drain, the length of windows, and the room of logs.
 */
export function scaleName({ algorithm, limit, windowMs }: Policy): string {
  if (DRAINING.includes(algorithm)) return `/${limit}per${windowMs}`
  return algorithm === 'sliding-log' ? `/${windowMs}/${roomFor(limit)}` : `/${windowMs}`
}

/** Returns the name of the count of a window that requests have instead of the window of the policy. */
export function nameOfWindow(name: string, { windowMs }: Policy, requested: Policy): string {
  return requested.windowMs === windowMs ? name : `${name}:${requested.windowMs}ms`
}

/** Smallest room of a log whose limit can change. */
const SMALLEST_ROOM = 32

/** Returns the room of a log whose limit can change: most changes of the limit then need no other log. */
export function roomFor(limit: number): number {
  return Math.min(LARGEST_LOG, Math.max(SMALLEST_ROOM, 2 ** Math.ceil(Math.log2(limit))))
}
