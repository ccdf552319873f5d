import type { Clock, Script, ScriptRunner } from '@sluice/limiter-core'
import { RedisFailure } from '../client/redis-failure.ts'
import { ServerClocks } from './server-clocks.ts'

/**
 * First argument of a script: the deadline in ms of server time, `=` followed by the time to use instead of the
 * server's, or '' for neither.
 */
export type TimeArg = string | number

function timeArg(deadline: number | undefined, now: number | undefined): TimeArg {
  return deadline ?? (now === undefined ? '' : `=${now}`)
}

/** Value of `expiryOffset` in `exact-head.lua` if the time of the server is replaced. */
const SIMULATED_EXPIRY_OFFSET = 2 ** 50

export interface ScriptCall {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
}

/** Common part of the replies of all scripts that read the time. */
export interface TimedReply {
  /** Time of the server in ms. */
  readonly now: number
  /** Whether the deadline had passed, so that the script did nothing. */
  readonly late: boolean
}

/** A call of a script that does nothing after a deadline. */
export interface TimedCall<R extends TimedReply> {
  /** A Redis key of the call, which determines the server. */
  readonly key: string
  /** Whether the identity of the server must be known before the call is sent. Default: false. */
  readonly needsIdentity?: boolean
  /** Builds the script call immediately before it is sent. */
  compose(time: TimeArg): ScriptCall
  read(reply: unknown): R
}

export interface TimedCallsOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  /** Clock in ms that replaces the server's clock in tests. */
  readonly serverTime: (() => number) | undefined
}

/** Sends calls whose deadline the server checks on its own clock. Each reply contains the server's time. */
export class TimedCalls {
  readonly times: ServerClocks
  readonly #runner: ScriptRunner
  readonly #clock: Clock
  readonly #serverTime: (() => number) | undefined

  constructor({ runner, clock, serverTime }: TimedCallsOptions) {
    this.times = new ServerClocks(runner, clock)
    this.#runner = runner
    this.#clock = clock
    this.#serverTime = serverTime
  }

  /** Time that replaces the time of the servers; undefined if it is not replaced. */
  get simulatedNow(): number | undefined {
    return this.#serverTime?.()
  }

  /** Milliseconds by which the ends of windows that are stored as the expiry of their keys are too late. */
  get expiryOffset(): number {
    return this.#serverTime ? SIMULATED_EXPIRY_OFFSET : 0
  }

  /** Reads the time of the server of `key` if it is needed and not yet known. */
  async ensureTime(key: string): Promise<void> {
    if (this.#serverTime) return
    // the first reply of a cluster may reveal that another server holds the key, so that its clock must be read too
    for (let tries = 0; tries < 2 && this.times.deadline(key, 0) === undefined; tries++) await this.times.fetch(key)
  }

  /** Reads the identity of the server of `key` if it is unknown or doubtful. */
  async ensureIdentity(key: string): Promise<void> {
    if (this.times.identities.isInDoubt(this.times.serverOf(key))) await this.times.fetch(key)
  }

  /**
   * Returns the time argument of a call that is sent at once; undefined if the server's clock is unknown or the
   * deadline has passed.
   */
  timeNow(key: string, deadlineAt: number | undefined, now: number): TimeArg | undefined {
    if (this.#serverTime) return timeArg(undefined, this.#serverTime())
    if (deadlineAt === undefined) return timeArg(undefined, undefined)
    return deadlineAt > now ? this.times.deadline(key, deadlineAt) : undefined
  }

  /** Records the time in ms that the server of `key` reported in reply to a call sent at `sentAt` (process clock). */
  recordTime(key: string, serverMs: number, sentAt: number): void {
    if (!this.#serverTime) this.times.reported(key, serverMs, sentAt)
  }

  /**
   * Reads the server's time and identity as needed and sends a call. If the reply is late, sends the call once more,
   * because the time in the reply may have corrected the clock offset. Returns undefined if the call is late again.
   */
  async run<R extends TimedReply>(call: TimedCall<R>, deadlineAt: number): Promise<R | undefined> {
    for (let tries = 0; tries < 2; tries++) {
      await this.ensureTime(call.key)
      if (call.needsIdentity) await this.ensureIdentity(call.key)
      if (this.#clock.now() > deadlineAt) return undefined
      const reply = await this.send(call, deadlineAt)
      if (!reply.late) return reply
    }
    return undefined
  }

  /** Sends a call. The clock of its server must be known if there is a deadline. */
  async send<R extends TimedReply>(call: TimedCall<R>, deadlineAt: number | undefined): Promise<R> {
    const sentAt = this.#clock.now()
    const { script, keys, args } = call.compose(this.#time(call.key, deadlineAt))
    const reply = call.read(
      await this.#runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }),
    )
    this.recordTime(call.key, reply.now, sentAt)
    return reply
  }

  /** Throws if the server's clock has been forgotten in the meantime. */
  #time(key: string, deadlineAt: number | undefined): TimeArg {
    const time = this.timeNow(key, deadlineAt, Number.NEGATIVE_INFINITY)
    if (time !== undefined) return time
    throw new RedisFailure('CONNECTION', 'the connection to Redis broke before the call was sent')
  }
}
