import type { LimiterControls, ObservedLimiter, ObservedPolicy } from '@sluice/limiter-core'
import { messageOf } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import type { EffectiveControls } from './effective-controls.ts'

/**
 * Maximum number of observed limiters. Above it the oldest are dropped, so that an application that keeps creating
 * limiters does not leak memory here.
 */
const MAX_LIMITERS = 1_000

/** A policy and its index in its limiter. */
export interface WatchedPolicy {
  readonly limiter: ObservedLimiter
  readonly index: number
  readonly policy: ObservedPolicy
}

interface ResetAction {
  readonly action: 'reset' | 'unban'
  readonly key: string
  readonly policy?: string | undefined
}

/** Limiters observed by an insight, at most 1,000. */
export class WatchedLimiters implements InsightPart {
  readonly #limiters = new Set<ObservedLimiter>()

  limiterOpened(limiter: ObservedLimiter): void {
    this.#limiters.add(limiter)
    if (this.#limiters.size <= MAX_LIMITERS) return
    const [oldest] = this.#limiters
    oldest.control(undefined, this)
    this.#limiters.delete(oldest)
  }

  limiterClosed(limiter: ObservedLimiter): void {
    this.#limiters.delete(limiter)
  }

  has(policy: string): boolean {
    return [...this.#limiters].some(({ policies }) => policies.some((one) => one.policy.name === policy))
  }

  /** Policies of all limiters without duplicates. Plans that share a count appear once for each different limit. */
  policies(): WatchedPolicy[] {
    const known = new Map<object, Set<string>>()
    const all = [...this.#limiters].flatMap((limiter) =>
      limiter.policies.map((policy, index) => ({ limiter, index, policy })),
    )
    return all.filter(({ policy }) => {
      const counts = known.get(policy.identity) ?? new Set()
      known.set(policy.identity, counts)
      const id = `${policy.countName}\0${JSON.stringify(policy.policy)}\0${policy.mode}`
      return !counts.has(id) && counts.add(id)
    })
  }

  /** Applies changes to all limiters. Returns the reasons why limits could not be applied, by policy. */
  applyToAll(effective: EffectiveControls): Map<string, string> {
    return new Map([...this.#limiters].flatMap((limiter) => [...this.apply(limiter, effective)]))
  }

  /** Applies changes to one limiter. Limits that it rejects are left out, all other changes are applied. */
  apply(limiter: ObservedLimiter, effective: EffectiveControls): Map<string, string> {
    const refused = new Map<string, string>()
    if (this.#tryControl(limiter, effective.all) === undefined) return refused
    for (const policy of effective.limitedPolicies) {
      const others = new Set(effective.limitedPolicies.filter((other) => other !== policy))
      const why = this.#tryControl(limiter, effective.without(others))
      if (why !== undefined) refused.set(policy, why)
    }
    limiter.control(effective.without(new Set(refused.keys())), this)
    return refused
  }

  /**
   * Resets a key, or lifts its bans, in one policy, by default in all: in all counts, or only in counts local to this
   * process if `isShared` is false.
   */
  async reset({ action, key, policy: name }: ResetAction, isShared: boolean): Promise<void> {
    const targets = this.policies().filter(
      ({ policy }) => (isShared || policy.perProcess) && (name === undefined || policy.policy.name === name),
    )
    // start all resets, even if one of them throws synchronously
    await Promise.all(
      targets.map(async ({ limiter, index }) =>
        action === 'reset' ? limiter.reset(index, key) : limiter.lift(index, key),
      ),
    )
  }

  #tryControl(limiter: ObservedLimiter, controls: LimiterControls | undefined): string | undefined {
    try {
      limiter.control(controls, this)
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  }
}
