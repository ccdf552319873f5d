import { invalidReply, lateFailure } from '../client/redis-failure.ts'
import { inflightHold } from '../lua/scripts.ts'
import {
  type ScriptCall,
  type TimeArg,
  TimedCalls,
  type TimedCallsOptions,
  type TimedReply,
} from '../server-time/timed-calls.ts'

/** What a call reports about one key, and what it requests. */
export interface HoldRequest {
  /** Redis key. */
  readonly name: string
  /** Arguments for `inflight-hold.lua`. */
  readonly args: readonly number[]
  /** Number of reply elements that concern this key. */
  readonly replies: number
}

/** Reply of the server about one key. */
export interface HoldReply {
  /** Error of this key. If it is set, the other fields are invalid. */
  readonly failure?: string | undefined
  /** Number of reported places that this process may keep. */
  readonly kept: number
  /** Number of places that all processes hold. */
  readonly total: number
  /** Number of granted acquires in each run. */
  readonly granted: readonly number[]
}

/** The holder of the places of a call. */
export interface Holder {
  /** Random id of a process, or of a permit that nothing renews. */
  readonly id: string
  readonly leaseMs: number
}

/** Reply of the script, with the parts of the keys not yet decoded. */
interface RawReply extends TimedReply {
  readonly parts: readonly unknown[]
}

/** Reports held places to Redis and requests more. */
export class HoldScript {
  readonly #calls: TimedCalls

  constructor(options: TimedCallsOptions) {
    this.#calls = new TimedCalls(options)
  }

  /** Forgets the server's clock after a lost connection, because another server may reply from now on. */
  forget(): void {
    this.#calls.times.forget()
  }

  /**
   * Returns one reply per request. Rejects with a `RedisFailure` if the call failed or reached Redis after `deadlineAt`
   * (process clock), in which case it has no effect.
   */
  async run(
    { id, leaseMs }: Holder,
    requests: readonly HoldRequest[],
    deadlineAt: number,
  ): Promise<readonly HoldReply[]> {
    const keys = requests.map(({ name }) => name)
    const args = requests.flatMap((request) => request.args)
    const compose = (time: TimeArg): ScriptCall => ({
      script: inflightHold,
      keys,
      args: [time, id, leaseMs, ...args],
    })
    const reply = await this.#calls.run({ key: keys[0], compose, read: rawReply }, deadlineAt)
    if (!reply) throw lateFailure()
    return repliesOf(requests, reply.parts)
  }
}

function rawReply(reply: unknown): RawReply {
  const [late, now, ...parts] = reply as unknown[]
  if (!Number.isFinite(Number(now))) throw invalidReply()
  return { now: Number(now), late: Number(late) === 1, parts }
}

function repliesOf(requests: readonly HoldRequest[], reply: readonly unknown[]): HoldReply[] {
  let at = 0
  return requests.map(({ replies }) => {
    const [kept, total, ...granted] = reply.slice(at, at + replies)
    at += replies
    const failure = Number.isNaN(Number(kept)) ? String(kept) : undefined
    const numbers = [kept, total, ...granted].map(Number)
    const isValid = granted.length === replies - 2 && numbers.every((count) => Number.isInteger(count) && count >= 0)
    if (failure === undefined && !isValid) throw invalidReply()
    return { failure, kept: Number(kept), total: Number(total), granted: granted.map(Number) }
  })
}
