import type { LimiterControls, ObservedLimiter, ObservedPolicy } from '@sluice/limiter-core'

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
    oldest.control(undefined)
    this.#limiters.delete(oldest)
  }

  remove(limiter: ObservedLimiter): void {
    this.#limiters.delete(limiter)
  }

  has(policy: string): boolean {
    return this.policies().some((watched) => watched.policy.policy.name === policy)
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

  /** Steers all of them. Answers why one could not be. `fallback`: what holds there instead. */
  control(controls: LimiterControls | undefined, fallback: LimiterControls | undefined): unknown {
    let failure: unknown
    for (const limiter of this.#limiters) {
      try {
        limiter.control(controls)
      } catch (error) {
        failure = error
        limiter.control(fallback)
      }
    }
    return failure
  }
}
