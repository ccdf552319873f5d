import { LearnedRate } from './learned-rate.ts'
import type { Sent } from './pace.ts'
import { RetryBudget } from './retry-budget.ts'
import type { ThrottleRules } from './throttle-options.ts'
import { ThrottledError } from './throttled-error.ts'
import type { Reply, Upstream } from './upstream.ts'

/** Sends as many calls as the upstream is likely to accept, and rejects the others. */
export class LearningUpstream implements Upstream<Sent> {
  readonly retries: RetryBudget
  readonly stats = { sent: 0, retried: 0, throttled: 0 }
  readonly #rules: ThrottleRules
  readonly #rate: LearnedRate
  #blockedUntilMs = Number.NEGATIVE_INFINITY

  constructor(rules: ThrottleRules) {
    this.#rules = rules
    this.retries = new RetryBudget(rules.retryBudget)
    this.#rate = new LearnedRate(rules.k - 1, rules.minRequests, rules.windowMs)
  }

  /** Decides about a request. Returns the error of its caller if it is not to be sent. */
  admit(): Sent | ThrottledError {
    const now = this.#rules.clock.now()
    this.#rate.count(now)
    const leftMs = Math.ceil(this.#blockedUntilMs - now)
    if (leftMs > 0) return new ThrottledError(`the upstream asked for no requests for another ${leftMs} ms`, leftMs)
    const sent = this.#rate.admit(now)
    if (sent) return sent
    return new ThrottledError(
      `the upstream refuses more than ${Number(this.#rate.perSecond.toPrecision(2))} per second`,
      0,
    )
  }

  /** Learns from the reply to a request that was sent. */
  learn(sent: Sent, { kind, waitMs }: Reply): void {
    const { clock, maxRetryAfterMs } = this.#rules
    const now = clock.now()
    const boundedMs = Math.min(waitMs, maxRetryAfterMs)
    if (kind === 'unknown') this.#rate.abandon()
    else this.#rate.learn(sent, kind === 'accepted', boundedMs, now)
    if (boundedMs <= 0) return
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, now + boundedMs)
    this.#rate.pauseUntil(this.#blockedUntilMs)
  }
}
