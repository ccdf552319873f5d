import { messageOf, pause, warnOnce } from '@sluice/limiter-core/backend'
import { RecentMap } from '../recent-map.ts'
import type { ThrottleRules } from './throttle-options.ts'
import { ThrottledError } from './throttled-error.ts'
import { type Reply, Upstream } from './upstream.ts'

const FIRST_BACKOFF_MS = 100
/** Retries wait up to this share longer than the upstream asked for, so that clients do not return all at once. */
const JITTER = 0.1

/** How a call ended. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown }

/** A call of an upstream. */
export interface Call<T> {
  /** Name of the upstream. */
  readonly key: string
  /** How often the call may be sent again. */
  readonly retries: number
  readonly signal?: AbortSignal | null | undefined
  send(): Promise<T>
  assess(outcome: Outcome<T>): Reply
  /** Releases a value that the caller does not receive, because the call is sent again. */
  discard?(value: T): void
}

/** Number of calls of an upstream since it was last forgotten, see the option `maxUpstreams`. */
export interface UpstreamStats {
  /** Calls that were sent, including those that were sent again. */
  readonly sent: number
  /** Calls that were sent again. */
  readonly retried: number
  /** Calls that were not sent, and rejected with the code `SLUICE_THROTTLED`. */
  readonly throttled: number
}

/** Method of functions that `adaptiveThrottle` and `throttled` return. */
export interface ThrottleStats {
  /** Returns counts by the name of the upstream, for metrics. */
  stats(): ReadonlyMap<string, UpstreamStats>
}

/** Sends as many calls to each upstream as it is likely to accept. */
export class Throttle implements ThrottleStats {
  readonly #rules: ThrottleRules
  readonly #upstreams: RecentMap<Upstream>

  constructor(rules: ThrottleRules) {
    this.#rules = rules
    this.#upstreams = new RecentMap(rules.maxUpstreams)
  }

  stats(): ReadonlyMap<string, UpstreamStats> {
    return new Map([...this.#upstreams].map(([key, { stats }]) => [key, { ...stats }]))
  }

  /** Sends a call, and sends it again if the upstream is overloaded. Rejects with a `ThrottledError` if it is not sent. */
  async run<T>(call: Call<T>): Promise<T> {
    const upstream = this.#upstreams.use(call.key, () => new Upstream(this.#rules))
    let admitted = upstream.admit()
    if (admitted instanceof ThrottledError) {
      upstream.stats.throttled++
      throw admitted
    }
    upstream.retries.deposit()
    for (let times = 1; ; times++) {
      upstream.stats.sent++
      const outcome = await outcomeOf(call)
      const reply = call.assess(outcome)
      upstream.learn(admitted, reply)
      if (reply.kind !== 'overloaded' || times > call.retries || call.signal?.aborted) return result(outcome)
      const delayMs = this.#delayMs(reply.waitMs, times)
      const isSoon = delayMs <= this.#rules.maxRetryDelayMs
      if (!isSoon || !upstream.retries.withdraw()) return result(outcome)
      try {
        await pause(delayMs, this.#rules.clock, call.signal)
      } catch (error) {
        discard(call, outcome)
        throw error
      }
      const again = upstream.admit()
      if (again instanceof ThrottledError) return result(outcome)
      admitted = again
      discard(call, outcome)
      upstream.stats.retried++
    }
  }

  #delayMs(waitMs: number, times: number): number {
    const backoffMs = FIRST_BACKOFF_MS * 2 ** (times - 1)
    return Math.ceil(waitMs + this.#rules.random() * Math.max(backoffMs, waitMs * JITTER))
  }
}

async function outcomeOf<T>(call: Call<T>): Promise<Outcome<T>> {
  try {
    return { value: await call.send() }
  } catch (error) {
    return { error }
  }
}

function discard<T>(call: Call<T>, outcome: Outcome<T>): void {
  if ('value' in outcome) call.discard?.(outcome.value)
}

function result<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

/** Returns the result of a function of the application, or `otherwise` if it throws, which is reported once. */
export function safely<T>(option: string, hook: () => T, otherwise: T): T {
  try {
    return hook()
  } catch (error) {
    warnOnce('SLUICE_HOOK_FAILED', () => `${option} threw, and its default was used: ${messageOf(error)}`, option)
    return otherwise
  }
}
