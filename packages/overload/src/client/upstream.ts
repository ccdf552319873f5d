import { RequestHistory } from './request-history.ts'
import { RetryBudget } from './retry-budget.ts'
import type { ThrottleRules } from './throttle-options.ts'
import { ThrottledError } from './throttled-error.ts'

/** An upstream that accepts nothing still receives one request in this time, which notices its recovery. */
const PROBE_MS = 1_000

/** What a client learns from a response or an error of an upstream. */
export interface Reply {
  /** `unknown` replies, such as those of aborted requests, are not counted. */
  readonly kind: 'accepted' | 'overloaded' | 'unknown'
  /** Milliseconds for which the upstream asks to receive no requests. */
  readonly waitMs: number
}

/** What a client has learned of one upstream. */
export class Upstream {
  readonly retries: RetryBudget
  readonly stats = { sent: 0, retried: 0, throttled: 0 }
  readonly #rules: ThrottleRules
  readonly #history: RequestHistory
  #blockedUntilMs = Number.NEGATIVE_INFINITY
  #sentAtMs = Number.NEGATIVE_INFINITY

  constructor(rules: ThrottleRules) {
    this.#rules = rules
    this.retries = new RetryBudget(rules.retryBudget)
    this.#history = new RequestHistory(rules.windowMs)
  }

  /** Decides about a request. Returns undefined if it is to be sent, and the error of its caller otherwise. */
  admit(): ThrottledError | undefined {
    const { clock, k, minRequests, random } = this.#rules
    const now = clock.now()
    const leftMs = Math.ceil(this.#blockedUntilMs - now)
    // not counted: otherwise the upstream would receive nothing after the time that it asked for
    if (leftMs > 0) return new ThrottledError(`asked for no requests for another ${leftMs} ms`, leftMs)
    const requests = this.#history.requests(now)
    const accepts = this.#history.accepts(now)
    const rejection = (requests - k * accepts) / (requests + 1)
    if (requests >= minRequests && now - this.#sentAtMs < PROBE_MS && random() < rejection) {
      this.#history.add(false, now)
      return new ThrottledError(`accepted ${accepts} of the last ${requests} requests`, 0)
    }
    this.#sentAtMs = now
    return undefined
  }

  /** Learns from the reply to a request that was sent. */
  learn({ kind, waitMs }: Reply): void {
    const { clock, maxRetryAfterMs } = this.#rules
    const now = clock.now()
    // requests count when they end: those in flight are neither accepted nor refused
    if (kind !== 'unknown') this.#history.add(kind === 'accepted', now)
    if (waitMs > 0) this.#blockedUntilMs = Math.max(this.#blockedUntilMs, now + Math.min(waitMs, maxRetryAfterMs))
  }
}
