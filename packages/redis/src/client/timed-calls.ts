import type { Clock, Script, ScriptRunner } from '@sluice/limiter-core'
import { RedisFailure } from './redis-failure.ts'
import { ServerTime } from './server-time.ts'

/** The first argument: the deadline in ms of the server, `=` and the time that the script takes for now, or ''. */
export type TimeArg = string | number

function timeArg(deadline: number | undefined, now: number | undefined): TimeArg {
  return deadline ?? (now === undefined ? '' : `=${now}`)
}

export interface ScriptCall {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
}

/** The part of a reply that every script with a time returns. */
export interface TimedReply {
  /** The server's time, in ms. */
  readonly now: number
  /** True where the deadline had passed, and nothing was done. */
  readonly late: boolean
}

/** A call of a script that does nothing after a deadline. */
export interface TimedCall<R extends TimedReply> {
  /** Identifies the server. */
  readonly key: string
  /** Whether the identity of the server must be known. */
  readonly mindsServer?: boolean
  /** Called when the call is sent, and not before. */
  compose(time: TimeArg): ScriptCall
  read(reply: unknown): R
}

export interface TimedCallsOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  /** For tests: a clock in ms instead of the server's. */
  readonly serverTime: (() => number) | undefined
}

/** Calls with a deadline that the server enforces with its own clock, which each reply contains. */
export class TimedCalls {
  readonly times: ServerTime
  readonly #runner: ScriptRunner
  readonly #clock: Clock
  readonly #serverTime: (() => number) | undefined

  constructor({ runner, clock, serverTime }: TimedCallsOptions) {
    this.times = new ServerTime(runner, clock)
    this.#runner = runner
    this.#clock = clock
    this.#serverTime = serverTime
  }

  /** Requests the time of the server of `key`, if calls need it and it is unknown. */
  async knowTime(key: string): Promise<void> {
    if (this.#serverTime) return
    // in a cluster, the server of a key is unknown before the first reply: then that server is asked
    for (let tries = 0; tries < 2 && this.times.deadline(key, 0) === undefined; tries++) await this.times.fetch(key)
  }

  /** Requests the identity of the server of `key`, if it may have changed. */
  async knowIdentity(key: string): Promise<void> {
    if (this.times.identities.isInDoubt(this.times.serverOf(key))) await this.times.fetch(key)
  }

  /**
   * Returns the time argument of a call that is sent now; undefined if the server's clock is unknown or the deadline
   * has passed.
   */
  timeNow(key: string, deadlineAt: number | undefined, now: number): TimeArg | undefined {
    if (this.#serverTime) return timeArg(undefined, this.#serverTime())
    if (deadlineAt === undefined) return timeArg(undefined, undefined)
    return deadlineAt > now ? this.times.deadline(key, deadlineAt) : undefined
  }

  /** The server of `key` reported its time, in ms, in reply to a call sent at `sentAt` of the process clock. */
  reported(key: string, serverMs: number, sentAt: number): void {
    if (!this.#serverTime) this.times.reported(key, serverMs, sentAt)
  }

  /**
   * Requests what is unknown about the server, and sends a call; sends it once more if it was late, because the
   * server's time in the reply may correct the clock offset. Resolves with undefined if it is late again.
   */
  async run<R extends TimedReply>(call: TimedCall<R>, deadlineAt: number): Promise<R | undefined> {
    for (let tries = 0; tries < 2; tries++) {
      await this.knowTime(call.key)
      if (call.mindsServer) await this.knowIdentity(call.key)
      if (this.#clock.now() > deadlineAt) return undefined
      const reply = await this.once(call, deadlineAt)
      if (!reply.late) return reply
    }
    return undefined
  }

  /** Sends a call whose server's clock has been requested. */
  async once<R extends TimedReply>(call: TimedCall<R>, deadlineAt: number | undefined): Promise<R> {
    const sentAt = this.#clock.now()
    const { script, keys, args } = call.compose(this.#time(call.key, deadlineAt))
    const reply = call.read(
      await this.#runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }),
    )
    this.reported(call.key, reply.now, sentAt)
    return reply
  }

  /** Throws if the offset of the server's clock has been forgotten since. */
  #time(key: string, deadlineAt: number | undefined): TimeArg {
    const time = this.timeNow(key, deadlineAt, Number.NEGATIVE_INFINITY)
    if (time !== undefined) return time
    throw new RedisFailure('CONNECTION', 'the connection to Redis broke before the call was sent')
  }
}
