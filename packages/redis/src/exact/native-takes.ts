import { type Charge, type Clock, type ScriptRunner, SoleDecision, wholeMsUntil } from '@sluice/limiter-core/backend'
import { hashSlot } from '../client/hash-slot.ts'
import { brokenFailure, failureOf, RedisFailure } from '../client/redis-failure.ts'
import { isNative } from '../lua/native-policy.ts'
import type { TimedCalls } from '../server-time/timed-calls.ts'
import { CommandQueue } from './command-queue.ts'

/**
 * Age in ms from which the known time of a server is too old. One take per second and server is a script then, whose
 * reply contains the time.
 */
const MAX_TIME_AGE_MS = 1_000

/** Milliseconds after which a server that refused the command is asked again. */
const REFUSED_MS = 60_000

interface NativeTakesOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly timed: TimedCalls
  /** Name of the backend, for decisions. */
  readonly source: string
}

/** A take that was sent, with the time of the server: never later than when the server executed it. */
interface Sent {
  readonly charge: Charge
  readonly name: string
  readonly now: number
}

/**
 * Takes units of a fixed window with the command `INCREX`. The value of the key is the number of used units, and the key
 * expires when the window ends. The server does not check a deadline.
 */
export class NativeTakes {
  readonly #options: NativeTakesOptions
  readonly #queues = new Map<string | number, CommandQueue>()
  /** Time until which each server is not asked again, because it refused the command. */
  readonly #refusedUntil = new Map<string, number>()

  constructor(options: NativeTakesOptions) {
    this.#options = options
  }

  /**
   * Takes one enforced charge without prior usage. Returns undefined, or resolves with undefined, if nothing was taken
   * and a script must be used instead.
   */
  take(charge: Charge, name: string, deadlineAt: number | undefined): Promise<SoleDecision | undefined> | undefined {
    const { counter, cost } = charge
    const { compiled } = counter
    if (!isNative(compiled) || !Number.isSafeInteger(cost) || cost < 1) return undefined
    const now = this.#serverNow(name, deadlineAt)
    if (now === undefined) return undefined
    // a key still exists in the millisecond at which it expires
    const lifeMs = compiled.policy.windowMs - 1
    const increment = ['BYINT', `${cost}`, 'UBOUND', `${compiled.capacity}`, 'PX', `${lifeMs}`, 'ENX']
    const commands = [
      ['INCREX', name, ...increment],
      ['PEXPIRETIME', name],
    ]
    return this.#queueOf(name)
      ?.add(commands)
      .then((replies) => replies && this.#decided({ charge, name, now }, replies))
  }

  /** Returns the queue of the server of `name`; undefined if no commands can be sent. */
  #queueOf(name: string): CommandQueue | undefined {
    const { runner } = this.#options
    if (!runner.sendCommands) return undefined
    const isOneSlot = runner.clustered && !runner.serverOf
    const server = isOneSlot ? hashSlot(name) : this.#options.timed.times.serverOf(name)
    let queue = this.#queues.get(server)
    if (!queue) {
      queue = new CommandQueue((commands) => runner.sendCommands?.(commands))
      this.#queues.set(server, queue)
    }
    return queue
  }

  /** Returns the time of the server of `name`; undefined if it is not known well or the command should not be sent. */
  #serverNow(name: string, deadlineAt = Number.POSITIVE_INFINITY): number | undefined {
    const { clock, timed } = this.#options
    const { times } = timed
    const now = clock.now()
    const refusedUntil = this.#refusedUntil.get(times.serverOf(name))
    if (now >= deadlineAt || (refusedUntil !== undefined && now < refusedUntil)) return undefined
    if (timed.simulatedNow !== undefined) return timed.simulatedNow
    if (times.isRecent(name, MAX_TIME_AGE_MS)) return times.at(name, now)
    // calls without a deadline do not read the time
    if (deadlineAt === Number.POSITIVE_INFINITY) timed.ensureTime(name).catch(() => {})
    return undefined
  }

  #decided(sent: Sent, [taken, expires]: readonly unknown[]): SoleDecision | undefined | Promise<SoleDecision> {
    if (taken instanceof Error) return this.#refused(sent, failureOf(taken))
    if (expires instanceof Error) this.#refuses(sent, failureOf(expires))
    const reply = readReply(taken, expires)
    const isAllowed = reply.applied > 0
    // a key without an expiry is not a count of Sluice, which the script reports
    if (!isAllowed && reply.expiresAt === NO_EXPIRY) return undefined
    if (isAllowed && this.#endOf(reply) <= sent.now) return this.#decidedLater(sent, reply)
    return this.#decision(sent, isAllowed, reply)
  }

  /**
   * Asks for the end of the window again: clients that send commands concurrently may send the second one first, when
   * the key does not exist yet.
   */
  async #decidedLater(sent: Sent, { value, applied, expiresAt }: TakeReply): Promise<SoleDecision> {
    const [expires = expiresAt] = (await this.#queueOf(sent.name)?.add([['PEXPIRETIME', sent.name]])) ?? []
    return this.#decision(sent, true, readReply([value, applied], expires))
  }

  /** Returns the end of the window; before all windows if the key does not exist. */
  #endOf({ expiresAt }: TakeReply): number {
    // a key still exists in the millisecond at which it expires
    return expiresAt + 1 - this.#options.timed.expiryOffset
  }

  #decision({ charge, now }: Sent, isAllowed: boolean, reply: TakeReply): SoleDecision {
    const { cost, counter } = charge
    const { value } = reply
    const { capacity, policy } = counter.compiled
    const { windowMs } = policy
    const remaining = Math.max(0, capacity - value)
    let endsAt = value === 0 ? now : this.#endOf(reply)
    // the window ended, or was reset, between the two commands
    if (value > 0 && endsAt <= now) endsAt = isAllowed && value === cost ? Math.floor(now) + windowMs : now + 1
    // if the clock of the server was set, the known time is wrong
    const resetMs = Math.min(endsAt - now, windowMs)
    const growsMs = remaining >= capacity ? 0 : wholeMsUntil(now + resetMs, now)
    const waitMs = cost > capacity ? Number.POSITIVE_INFINITY : growsMs
    // a refund must reach the window of its take
    const takenAt = Math.max(now, endsAt - windowMs)
    const { source } = this.#options
    return new SoleDecision(source, policy, remaining, isAllowed ? 0 : waitMs, resetMs, takenAt, growsMs)
  }

  /** Returns undefined if a script can take the units instead. Throws other failures. */
  #refused(sent: Sent, failure: RedisFailure): undefined {
    const isForScripts = SCRIPT_CODES.includes(failure.code) || NOT_INTEGER.test(failure.message)
    if (isForScripts || this.#refuses(sent, failure)) return undefined
    throw failure
  }

  /** Returns whether the server does not execute a command at all. It is not asked again for a minute then. */
  #refuses({ name }: Sent, { message }: RedisFailure): boolean {
    const { clock, timed } = this.#options
    const isRefused = REFUSED.test(message)
    if (isRefused) this.#refusedUntil.set(timed.times.serverOf(name), clock.now() + REFUSED_MS)
    return isRefused
  }
}

/** Reply of `PEXPIRETIME` for a key without an expiry. */
const NO_EXPIRY = -1
/** Errors of servers that do not have the command, have another form of it, or do not permit it. */
const REFUSED = /unknown command|syntax error|has no permissions to run/i
/** Error for the cells of a window that a script has opened. The next script stores them as an integer. */
const NOT_INTEGER = /not an integer/i
/** Codes of errors that scripts report better, or that clients handle for scripts only. */
const SCRIPT_CODES: readonly string[] = ['WRONGTYPE', 'MOVED', 'ASK', 'TRYAGAIN']

interface TakeReply {
  /** Used units after the command. */
  readonly value: number
  /** Units that were taken. */
  readonly applied: number
  /** Time at which the key expires, in ms; negative if it does not exist or does not expire. */
  readonly expiresAt: number
}

/** Reads the replies of both commands. Throws a `RedisFailure` if one is an error or invalid. */
function readReply(taken: unknown, expires: unknown): TakeReply {
  const [value, applied] = Array.isArray(taken) ? taken.map(numberOf) : []
  const expiresAt = expires instanceof Error ? Number.NaN : numberOf(expires)
  if (value >= 0 && applied >= 0 && !Number.isNaN(expiresAt)) return { value, applied, expiresAt }
  throw unclearFailure(expires)
}

/** Clients return numbers as numbers, strings or bytes. */
function numberOf(part: unknown): number {
  return typeof part === 'number' ? part : Number(String(part))
}

/** Creates the failure of a take that may have been applied, but whose reply is missing or invalid. */
function unclearFailure(reply: unknown): RedisFailure {
  if (!(reply instanceof Error)) return brokenFailure()
  const { code, message, keyOnly } = failureOf(reply)
  return new RedisFailure(code, message, { keyOnly, mayHaveCounted: true })
}
