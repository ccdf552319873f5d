import type { Clock, PriorUsage } from '@sluice/limiter-core'
import { ALWAYS, type ReportedUsage } from '../lua/reported-usage.ts'
import { failureOf, type RedisFailure } from './redis-failure.ts'
import type { ServerTime } from './server-time.ts'

/** Converts what callers know into what to report to a server, without what it has counted itself. */
export class UsageReports {
  readonly #times: ServerTime
  readonly #clock: Clock
  readonly #serverTime: (() => number) | undefined

  constructor(times: ServerTime, clock: Clock, serverTime: (() => number) | undefined) {
    this.#times = times
    this.#clock = clock
    this.#serverTime = serverTime
  }

  /** A call failed, which may be the only sign that one server took over from another. */
  failed(name: string, error: unknown): RedisFailure {
    const failure = failureOf(error)
    if (failure.code !== 'WRONGTYPE') this.#times.identities.doubt(this.#times.serverOf(name), this.#clock.now())
    return failure
  }

  /** Whether counts under `name` that are up to `ageMs` old may be lost. */
  mayHaveLost(name: string, ageMs: number): boolean {
    return this.#times.identities.mayHaveLost(this.#times.serverOf(name), this.#clock.now() - ageMs)
  }

  /** The number of the server of `name`. */
  numberOf(name: string): number {
    return this.#times.identities.numberOf(this.#times.serverOf(name))
  }

  /** Returns what to report to the server `name` of what was known at `askedAt`; undefined if there is nothing. */
  reportOf(known: PriorUsage, name: string, askedAt: number): ReportedUsage | undefined {
    const { used, resetAfterMs, ageMs, admitted } = known
    const now = this.#clock.now()
    const isReported = used > 0 && (ageMs === undefined || this.mayHaveLost(name, now - askedAt + ageMs))
    if (!isReported && !admitted) return undefined
    return {
      used: isReported ? used : 0,
      resetAfterMs,
      usedAt: ageMs === undefined ? ALWAYS : this.#serverAt(name, askedAt - ageMs),
      uncounted: admitted?.uncounted ?? 0,
      unsure: admitted?.unsure ?? 0,
      upTo: admitted?.upTo ?? 0,
      admittedAt: admitted ? this.#serverAt(name, askedAt - admitted.ageMs) : 0,
    }
  }

  /** An instant of the process clock as the server reads it, or a little less. */
  #serverAt(name: string, processAt: number): number {
    const now = this.#clock.now()
    const at = this.#serverTime ? processAt + this.#serverTime() - now : this.#times.at(name, processAt)
    return Math.max(1, at ?? 1)
  }
}
