import type { Clock, ScriptRunner } from '@sluice/limiter-core'
import { type TimeArg, timeArg } from './batch-call.ts'
import { RedisFailure } from './redis-failure.ts'
import { ServerTime } from './server-time.ts'
import { UsageReports } from './usage-reports.ts'

export interface KnownServersOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  /** For tests: a clock in ms instead of the server's. */
  readonly serverTime: (() => number) | undefined
}

/** The servers behind a runner: their clocks, and what each of them must be told. One for all calls of a backend. */
export class KnownServers {
  readonly telling: UsageReports
  readonly #times: ServerTime
  readonly #serverTime: (() => number) | undefined
  readonly #stopListening: (() => void) | undefined

  constructor({ runner, clock, serverTime }: KnownServersOptions) {
    this.#times = new ServerTime(runner, clock)
    this.telling = new UsageReports(this.#times, clock, serverTime)
    this.#serverTime = serverTime
    this.#stopListening = runner.interrupted?.((_, server) => this.#times.forget(server))
  }

  /** Asks the server of `key` for its time, where calls need it and it is not known. */
  async knowTime(key: string): Promise<void> {
    if (this.#serverTime) return
    // which server has a key is not known before the first answer of a cluster: then that server is asked
    for (let asks = 0; asks < 2 && this.#times.deadline(key, 0) === undefined; asks++) await this.#times.ask(key)
  }

  /** Asks the server of `key` who it is, where it may be another one than before. */
  async knowIdentity(key: string): Promise<void> {
    if (this.telling.isInDoubt(key)) await this.#times.ask(key)
  }

  /** The time of a call that goes out at once; undefined where the server's clock is not known, or nobody waits any more. */
  timeNow(key: string, deadlineAt: number | undefined, now: number): TimeArg | undefined {
    if (this.#serverTime) return timeArg(undefined, this.#serverTime())
    if (deadlineAt === undefined) return timeArg(undefined, undefined)
    return deadlineAt > now ? this.#times.deadline(key, deadlineAt) : undefined
  }

  /** The time of a call whose server's clock was asked for. Throws where it was forgotten since. */
  time(key: string, deadlineAt: number | undefined): TimeArg {
    const time = this.timeNow(key, deadlineAt, Number.NEGATIVE_INFINITY)
    if (time !== undefined) return time
    throw new RedisFailure('CONNECTION', 'the connection to Redis broke before the call was sent')
  }

  /** The server of `key` told its time, in ms, in answer to a call that was sent at `sentAt` of the process clock. */
  told(key: string, serverMs: number, sentAt: number): void {
    if (!this.#serverTime) this.#times.told(key, serverMs, sentAt)
  }

  close(): void {
    this.#stopListening?.()
  }
}
