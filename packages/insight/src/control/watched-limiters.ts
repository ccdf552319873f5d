import type { LimiterControls, ObservedLimiter, ObservedPolicy } from '@sluice/limiter-core'
import { messageOf } from '@sluice/limiter-core/backend'
import type { Steering } from './steering.ts'

/** Above it the oldest are forgotten: whoever builds limiters without an end loses none of its memory here. */
const MOST_LIMITERS = 1_000

/** A policy of a limiter, and its place there. */
export interface WatchedPolicy {
  readonly limiter: ObservedLimiter
  readonly index: number
  readonly policy: ObservedPolicy
}

/** The limiters that an insight watches, 1,000 at most. */
export class WatchedLimiters {
  readonly #limiters = new Set<ObservedLimiter>()

  add(limiter: ObservedLimiter): void {
    this.#limiters.add(limiter)
    if (this.#limiters.size <= MOST_LIMITERS) return
    const [oldest] = this.#limiters
    oldest.control(undefined, this)
    this.#limiters.delete(oldest)
  }

  remove(limiter: ObservedLimiter): void {
    this.#limiters.delete(limiter)
  }

  has(policy: string): boolean {
    return [...this.#limiters].some(({ policies }) => policies.some((one) => one.policy.name === policy))
  }

  /** Each count once, and once for each limit under which plans count in it. */
  policies(): WatchedPolicy[] {
    const known = new Map<object, Set<string>>()
    const all = [...this.#limiters].flatMap((limiter) =>
      limiter.policies.map((policy, index) => ({ limiter, index, policy })),
    )
    return all.filter(({ policy }) => {
      const counts = known.get(policy.identity) ?? new Set()
      known.set(policy.identity, counts)
      const id = `${policy.count}\0${JSON.stringify(policy.policy)}\0${policy.mode}`
      return !counts.has(id) && counts.add(id)
    })
  }

  /** Steers all of them. Answers why, by the policies whose limits one could not have. */
  control(steering: Steering): Map<string, string> {
    return new Map([...this.#limiters].flatMap((limiter) => [...this.steer(limiter, steering)]))
  }

  /** The same of one limiter, which is steered by all else. */
  steer(limiter: ObservedLimiter, steering: Steering): Map<string, string> {
    const refused = new Map<string, string>()
    if (this.#refusal(limiter, steering.all) === undefined) return refused
    for (const policy of steering.limited) {
      const others = new Set(steering.limited.filter((other) => other !== policy))
      const why = this.#refusal(limiter, steering.without(others))
      if (why !== undefined) refused.set(policy, why)
    }
    limiter.control(steering.without(new Set(refused.keys())), this)
    return refused
  }

  #refusal(limiter: ObservedLimiter, controls: LimiterControls | undefined): string | undefined {
    try {
      limiter.control(controls, this)
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  }
}
