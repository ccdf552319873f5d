import { isPromise, messageOf, pause, warnOnce } from '@sluice/limiter-core/backend'
import { RecentMap } from '../recent-map.ts'
import type { RetryRules } from './throttle-options.ts'
import { ThrottledError } from './throttled-error.ts'
import { ageMs, type Caller, type Reply, type Upstream, type UpstreamStats } from './upstream.ts'

const FIRST_BACKOFF_MS = 100
/** Retries wait up to this share longer than the upstream asked for, so that clients do not return all at once. */
const JITTER = 0.1

/** How a call ended. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown }

/** A call of an upstream. */
export interface Call<T> extends Caller {
  /** Name of the upstream. */
  readonly key: string
  /** How often the call may be sent again. */
  readonly retries: number
  send(): Promise<T>
  assess(outcome: Outcome<T>): Reply
  /** Releases a value that the caller does not receive, because the call is sent again. */
  discard?(value: T): void
}

/** Method of functions that `adaptiveThrottle` and `throttled` return. */
export interface ThrottleStats {
  /** Returns counts by the name of the upstream, for metrics. */
  stats(): ReadonlyMap<string, UpstreamStats>
}

/** Sends calls when their upstream admits them, and sends some of those again that it refused. */
export class Throttle<S, U extends Upstream<S> = Upstream<S>> implements ThrottleStats {
  readonly #rules: RetryRules
  readonly #upstreams: RecentMap<U>
  readonly #create: (key: string) => U

  constructor(rules: RetryRules, create: (key: string) => U) {
    this.#rules = rules
    this.#create = create
    this.#upstreams = new RecentMap(rules.maxUpstreams)
  }

  get upstreams(): Iterable<readonly [key: string, upstream: U]> {
    return this.#upstreams
  }

  stats(): ReadonlyMap<string, UpstreamStats> {
    return new Map([...this.#upstreams].map(([key, { stats }]) => [key, { ...stats }]))
  }

  /** Sends a call, and sends it again if the upstream refuses it. Rejects with a `ThrottledError` if it is not sent. */
  async run<T>(call: Call<T>): Promise<T> {
    const upstream = this.#upstreams.use(call.key, () => this.#create(call.key))
    let admitted = upstream.admit(call, 0)
    if (isPromise(admitted)) admitted = await admitted
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
      if (!isRefused(reply) || times > call.retries || call.signal?.aborted) return result(outcome)
      const delayMs = this.#delayMs(reply.waitMs, times)
      // false also for an endless delay, which is not a number after a jitter of 0
      const isSoon = delayMs <= this.#leftMs(call)
      if (!isSoon || !upstream.retries.withdraw()) return result(outcome)
      const again = await this.#again(upstream, call, outcome, delayMs, times)
      if (again instanceof ThrottledError) return result(outcome)
      admitted = again
    }
  }

  /** Returns the longest wait before a call is sent again, which a call that waits for its turn has used in part. */
  #leftMs(call: Caller): number {
    const { maxRetryDelayMs, clock } = this.#rules
    return maxRetryDelayMs - ageMs(call, clock.now())
  }

  /** Waits until the call may be sent again, and releases its last value then, and if the call is aborted. */
  async #again<T>(upstream: U, call: Call<T>, outcome: Outcome<T>, delayMs: number, times: number) {
    try {
      if (!(await this.#paused(delayMs, call.signal))) return new ThrottledError('its function was closed', delayMs)
      const again = await upstream.admit(call, times)
      if (again instanceof ThrottledError) return again
      upstream.stats.retried++
      discard(call, outcome)
      return again
    } catch (error) {
      discard(call, outcome)
      throw error
    }
  }

  /** Returns false if the function was closed meanwhile. */
  async #paused(ms: number, signal: Caller['signal']): Promise<boolean> {
    const { clock, waits } = this.#rules
    let end = (): void => {}
    const closed = new Promise<void>((resolve) => (end = resolve))
    waits?.add(end)
    try {
      if (!waits?.isClosed) await pause(ms, clock, signal, closed)
    } finally {
      waits?.delete(end)
    }
    return !waits?.isClosed
  }

  #delayMs(waitMs: number, times: number): number {
    const backoffMs = FIRST_BACKOFF_MS * 2 ** (times - 1)
    return Math.ceil(waitMs + this.#rules.random() * Math.max(backoffMs, waitMs * JITTER))
  }
}

function isRefused({ kind, mayRetry }: Reply): boolean {
  return (kind === 'refused' || kind === 'overloaded') && mayRetry !== false
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
