import type { AlgorithmName } from '@sluice/limiter-core'
import type { AttributeValue, WrittenOverride, WrittenPolicy } from '../document/policy-document.ts'
import { AttributeMatch } from './attribute-match.ts'
import type { AttributeSource } from './attribute-source.ts'
import { Condition } from './condition.ts'
import { RequestCost } from './condition-cost.ts'
import { FileOverrides } from './file-overrides.ts'
import { PolicyKey } from './policy-key.ts'
import { shareOf } from './rollout.ts'

/**
 * Called if a condition cannot be evaluated for a request. `applied`: whether the policy applies to the request, which
 * it does only if the evaluation takes too long.
 */
export type ConditionFailed = (policy: string, error: unknown, applied: boolean) => void

/** A policy of a file, compiled. */
export class FilePolicy {
  readonly written: WrittenPolicy
  readonly key: PolicyKey
  readonly match: AttributeMatch
  /** Limits of single keys; undefined if there are none. */
  readonly overrides: FileOverrides | undefined
  /** Share of the keys to which the policy applies, from 0 to 1. */
  readonly share: number
  /** Names of the attributes that the policy reads from requests. */
  readonly attributes: readonly string[]
  readonly #condition: Condition | undefined
  /** Limits by plan, and the plan with the smallest one; undefined if all plans have the same limit. */
  readonly #plans: { readonly limits: ReadonlyMap<string, number>; readonly smallest: string } | undefined

  /** `overrides`: the overrides of this policy only. */
  constructor(written: WrittenPolicy, overrides: readonly WrittenOverride[]) {
    this.written = written
    this.key = new PolicyKey(written.key)
    this.overrides = overrides.length === 0 ? undefined : new FileOverrides(overrides, this.key.names.length)
    this.share = shareOf(written.rollout)
    this.match = new AttributeMatch(written.match)
    this.#condition = written.when === undefined ? undefined : new Condition(written.when)
    this.#plans = typeof written.limit === 'number' ? undefined : plansOf(written.limit)
    this.attributes = [
      ...new Set([
        ...this.match.names,
        ...(this.#condition?.attributes ?? []),
        ...this.key.names,
        ...(typeof written.limit === 'number' ? [] : ['plan']),
      ]),
    ]
  }

  get name(): string {
    return this.written.name
  }

  /** Default: that of the backend. */
  get algorithm(): AlgorithmName | undefined {
    return this.written.algorithm
  }

  /** Largest limit of the policy, in units per window. */
  get largestLimit(): number {
    const { limit } = this.written
    return typeof limit === 'number' ? limit : Math.max(...Object.values(limit))
  }

  /** Whether requests take units by the policy, but are never denied by it. */
  get isShadow(): boolean {
    return this.written.mode === 'shadow'
  }

  /**
   * Returns whether `match` and `when` fit a request, or 'assumed' if the evaluation of `when` takes too long: a
   * request must not escape a limit by its size.
   */
  fits(read: AttributeSource, failed: ConditionFailed, cost: RequestCost = new RequestCost()): boolean | 'assumed' {
    if (this.written.mode === 'off' || !this.match.fits(read)) return false
    if (!this.#condition) return true
    try {
      const met = this.#condition.isMetBy(read, cost)
      if (met !== 'exceeded') return met
    } catch (error) {
      failed(this.name, error, false)
      return false
    }
    failed(this.name, new Error('the condition takes too long for this request'), true)
    return 'assumed'
  }

  /**
   * Returns whether `when` is met by all requests with these attributes; undefined if that depends on other attributes.
   */
  meets(known: ReadonlyMap<string, AttributeValue>): boolean | undefined {
    return this.#condition === undefined ? true : this.#condition.outcomeOf(known)
  }

  /** Names of the attributes that `when` reads. */
  get conditionAttributes(): readonly string[] {
    return this.#condition?.attributes ?? []
  }

  /**
   * Returns the plan whose limit a request has; undefined if all plans have the same limit. Requests without one of the
   * plans have the smallest limit.
   */
  planOf(read: AttributeSource): string | undefined {
    const plans = this.#plans
    if (plans === undefined) return undefined
    const plan = String(read('plan'))
    return plans.limits.has(plan) ? plan : plans.smallest
  }

  /** Returns the limit of a plan of the policy, in units per window; undefined if all plans have the same limit. */
  limitOf(plan: string | undefined): number | undefined {
    return plan === undefined ? undefined : this.#plans?.limits.get(plan)
  }

  /** Whether this policy takes the place of another one for the requests that both fit. */
  replaces(other: FilePolicy): boolean {
    if (other === this) return false
    // a policy that never denies must not exempt keys from one that does
    if (this.isShadow && !other.isShadow) return false
    if (this.written.replaces?.includes(other.name)) return true
    return (
      (this.written.unit ?? 'requests') === (other.written.unit ?? 'requests') &&
      this.key.names.join('\0') === other.key.names.join('\0') &&
      this.match.refines(other.match)
    )
  }
}

function plansOf(written: Readonly<Record<string, number>>): {
  readonly limits: ReadonlyMap<string, number>
  readonly smallest: string
} {
  const limits = Object.entries(written)
  const [smallest] = limits.reduce((least, one) => (one[1] < least[1] ? one : least))
  return { limits: new Map(limits), smallest }
}
