import { failureOfText, invalidReply, lateFailure, type RedisFailure } from '../client/redis-failure.ts'
import { inflightShares } from '../lua/scripts.ts'
import {
  type ScriptCall,
  type TimeArg,
  TimedCalls,
  type TimedCallsOptions,
  type TimedReply,
} from '../server-time/timed-calls.ts'

/** Report about one key, as arguments for `inflight-shares.lua`. */
export interface ShareRequest {
  /** Redis key. */
  readonly name: string
  readonly args: readonly (string | number)[]
}

/** Reply about one key. If it failed, only `failure` is valid. */
export interface ShareReply {
  readonly failure: RedisFailure | undefined
  readonly share: number
  readonly reserve: number
  readonly limit: number
  readonly version: number
  readonly isSettled: boolean
  readonly leads: boolean
  readonly processes: number
  /** Whether a process wants more than its share. */
  readonly isWanting: boolean
  /** Whether this process will get more. */
  readonly isMore: boolean
  readonly reserved: number
  readonly samples: readonly string[]
}

interface RawReply extends TimedReply {
  readonly parts: readonly unknown[]
}

/** Number of reply elements of a key. */
const ELEMENTS = 11

/** Reports what this process holds of learned limits, and receives its shares. */
export class ShareScript {
  readonly #leaseMs: number
  readonly #calls: TimedCalls

  constructor(options: TimedCallsOptions & { readonly leaseMs: number }) {
    this.#leaseMs = options.leaseMs
    this.#calls = new TimedCalls(options)
  }

  /** Forgets the server's clock after a lost connection, because another server may reply from now on. */
  forget(): void {
    this.#calls.times.forget()
  }

  /** Returns one reply per request. Rejects with a `RedisFailure`, or if the call reached Redis after `deadlineAt`. */
  async run(requests: readonly ShareRequest[], deadlineAt: number): Promise<readonly ShareReply[]> {
    const keys = requests.map(({ name }) => name)
    const args = requests.flatMap((request) => request.args)
    const compose = (time: TimeArg): ScriptCall => ({
      script: inflightShares,
      keys,
      args: [time, this.#leaseMs, ...args],
    })
    const reply = await this.#calls.run({ key: keys[0], compose, read: rawReply }, deadlineAt)
    if (!reply) throw lateFailure()
    if (reply.parts.length !== ELEMENTS * requests.length) throw invalidReply()
    return requests.map((_, index) => replyOf(reply.parts.slice(ELEMENTS * index, ELEMENTS * (index + 1))))
  }
}

function rawReply(reply: unknown): RawReply {
  const [late, now, ...parts] = reply as unknown[]
  if (!Number.isFinite(Number(now))) throw invalidReply()
  // a late call has no parts
  return { now: Number(now), late: Number(late) === 1, parts }
}

function replyOf(elements: readonly unknown[]): ShareReply {
  const numbers = elements.slice(0, -1).map(Number)
  const failure = Number.isNaN(numbers[0]) ? failureOfText(String(elements[0])) : undefined
  if (!failure && !numbers.every((count) => Number.isInteger(count) && count >= 0)) throw invalidReply()
  const [share, reserve, limit, version, settled, leads, processes, wanting, more, reserved] = numbers
  const samples = String(elements[ELEMENTS - 1])
  return {
    failure,
    share,
    reserve,
    limit,
    version,
    isSettled: settled === 1,
    leads: leads === 1,
    processes,
    isWanting: wanting === 1,
    isMore: more === 1,
    reserved,
    samples: samples === '' ? [] : samples.split('|'),
  }
}
