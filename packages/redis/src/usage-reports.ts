import type { Clock, PriorUsage } from '@sluice/limiter-core'
import { failureOf, type RedisFailure } from './redis-failure.ts'
import type { ServerTime } from './server-time.ts'

/** What a script is told of a key; times are of the server. */
export interface ReportedUsage {
  /** 0 where the server knows of it. */
  readonly used: number
  readonly resetAfterMs: number
  /** When the server, or the one before it, told `used`. */
  readonly usedAt: number
  readonly uncounted: number
  readonly unsure: number
  readonly upTo: number
  /** When the last unit was admitted that was not counted. */
  readonly admittedAt: number
}

/** Of what is believed whenever it was heard: later than any time. */
export const ALWAYS: number = 2 ** 52

/** Makes of what callers know what a server must be told: nothing of what it counted itself. */
export class UsageReports {
  readonly #times: ServerTime
  readonly #clock: Clock
  readonly #serverTime: (() => number) | undefined

  constructor(times: ServerTime, clock: Clock, serverTime: (() => number) | undefined) {
    this.#times = times
    this.#clock = clock
    this.#serverTime = serverTime
  }

  /** Whether the server of `name` must be asked who it is before anything is told to it. */
  isInDoubt(name: string): boolean {
    return this.#times.identities.isInDoubt(this.#times.serverOf(name))
  }

  /** A call failed: that may be all that is ever heard of one server that takes over from another. */
  failed(name: string, error: unknown): RedisFailure {
    const failure = failureOf(error)
    if (failure.code !== 'WRONGTYPE') this.#times.identities.doubt(this.#times.serverOf(name), this.#clock.now())
    return failure
  }

  /** Whether what was counted under `name` until `ageMs` ago may be gone. */
  mayHaveLost(name: string, ageMs: number): boolean {
    return this.#times.identities.mayHaveLost(this.#times.serverOf(name), this.#clock.now() - ageMs)
  }

  /** The number of the server of `name`. */
  numberOf(name: string): number {
    return this.#times.identities.numberOf(this.#times.serverOf(name))
  }

  /** What the server of `name` is told of what was known at `askedAt`; undefined where that is nothing. */
  told(known: PriorUsage, name: string, askedAt: number): ReportedUsage | undefined {
    const { used, resetAfterMs, ageMs, admitted } = known
    const now = this.#clock.now()
    const isTold = used > 0 && (ageMs === undefined || this.mayHaveLost(name, now - askedAt + ageMs))
    if (!isTold && !admitted) return undefined
    return {
      used: isTold ? used : 0,
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
