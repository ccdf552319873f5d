import { randomBytes } from 'node:crypto'
import { invalidReply, lateFailure } from '../client/redis-failure.ts'
import { inflightHold } from '../lua/scripts.ts'
import {
  type ScriptCall,
  type TimeArg,
  TimedCalls,
  type TimedCallsOptions,
  type TimedReply,
} from '../server-time/timed-calls.ts'
import type { HoldReply, KeyReport } from './key-report.ts'

export interface HoldScriptOptions extends TimedCallsOptions {
  readonly leaseMs: number
}

/** Reply of the script, with the parts of the keys not yet decoded. */
interface RawReply extends TimedReply {
  readonly parts: readonly unknown[]
}

/** Reports the held places of this process to Redis and requests more. */
export class HoldScript {
  readonly #leaseMs: number
  readonly #calls: TimedCalls
  /** Random id of this process. */
  readonly #process = randomBytes(9).toString('base64url')

  constructor(options: HoldScriptOptions) {
    this.#leaseMs = options.leaseMs
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
  async run(requests: readonly KeyReport[], deadlineAt: number): Promise<readonly HoldReply[]> {
    const keys = requests.map(({ holding }) => holding.name)
    const args = requests.flatMap((request) => request.args)
    const compose = (time: TimeArg): ScriptCall => {
      return { script: inflightHold, keys, args: [time, this.#process, this.#leaseMs, ...args] }
    }
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

function repliesOf(requests: readonly KeyReport[], reply: readonly unknown[]): HoldReply[] {
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
