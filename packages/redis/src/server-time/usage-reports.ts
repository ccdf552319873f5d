import { reportedUsage } from '@sluice/fleet/backend'
import type { Clock, PriorUsage } from '@sluice/limiter-core'
import { failureOf, type RedisFailure } from '../client/redis-failure.ts'
import { ALWAYS, type ReportedUsage } from '../lua/reported-usage.ts'
import type { ServerClocks } from './server-clocks.ts'

/** Converts the usage that callers know into reports for a server, without usage that the server still has itself. */
export class UsageReports {
  readonly #times: ServerClocks
  readonly #clock: Clock
  readonly #serverTime: (() => number) | undefined

  constructor(times: ServerClocks, clock: Clock, serverTime: (() => number) | undefined) {
    this.#times = times
    this.#clock = clock
    this.#serverTime = serverTime
  }

  /**
   * Converts the error of a failed call and marks the server's identity as doubtful, because a failure may be the only
   * sign that another server has taken over.
   */
  recordFailure(name: string, error: unknown): RedisFailure {
    const failure = failureOf(error)
    if (failure.code !== 'WRONGTYPE') this.#times.identities.markDoubtful(this.#times.serverOf(name), this.#clock.now())
    return failure
  }

  /** Whether counts of the Redis key `name` that were reported `ageMs` ago may be lost. */
  mayHaveLost(name: string, ageMs: number): boolean {
    return this.#times.identities.mayHaveLost(this.#times.serverOf(name), this.#clock.now() - ageMs)
  }

  /** Returns the number of the server that holds `name`; 0 if its identity is unknown. */
  numberOf(name: string): number {
    return this.#times.identities.numberOf(this.#times.serverOf(name))
  }

  /** Returns the report for a key whose usage was known at `requestedAt`; undefined if there is nothing to report. */
  reportOf(known: PriorUsage, name: string, requestedAt: number): ReportedUsage | undefined {
    const { used, ageMs, replyAgeMs = ageMs, admitted } = known
    const now = this.#clock.now()
    const isReported = used > 0 && (ageMs === undefined || this.mayHaveLost(name, now - requestedAt + ageMs))
    if (!isReported && !admitted) return undefined
    const counted = isReported ? known : { ...known, used: 0, held: 0 }
    const usage = reportedUsage(counted, (age) => this.#serverAt(name, requestedAt - age))
    const repliedAt = replyAgeMs === undefined ? ALWAYS : this.#notBefore(name, requestedAt - replyAgeMs)
    return { ...usage, repliedAt }
  }

  /** Converts a time from the process clock to the server's clock; the result is never too late. */
  #serverAt(name: string, processAt: number): number {
    return this.#simulatedAt(processAt) ?? this.#times.at(name, processAt) ?? 1
  }

  /** Like `#serverAt`; the result is never too early. */
  #notBefore(name: string, processAt: number): number {
    return Math.max(1, this.#simulatedAt(processAt) ?? this.#times.notBefore(name, processAt) ?? ALWAYS)
  }

  #simulatedAt(processAt: number): number | undefined {
    return this.#serverTime && processAt + this.#serverTime() - this.#clock.now()
  }
}
