import type { Script } from '@sluice/limiter-core/backend'
import { invalidReply, lateFailure } from '../client/redis-failure.ts'
import {
  type ScriptCall,
  type TimeArg,
  TimedCalls,
  type TimedCallsOptions,
  type TimedReply,
} from '../server-time/timed-calls.ts'

type Arg = string | number

/** What a call reports about one key. */
export interface KeyArgs {
  /** Redis key. */
  readonly name: string
  /** Arguments of the script. */
  readonly args: readonly Arg[]
}

/** Reply of the script, with the parts of the keys not yet decoded. */
interface RawReply extends TimedReply {
  readonly parts: readonly unknown[]
}

/** A script that receives reports about keys. Its reply is a list: whether the call was late, the time, and the parts. */
export class ReportScript {
  readonly #script: Script
  readonly #calls: TimedCalls

  constructor(script: Script, options: TimedCallsOptions) {
    this.#script = script
    this.#calls = new TimedCalls(options)
  }

  /** Forgets the server's clock after a lost connection, because another server may reply from now on. */
  forget(): void {
    this.#calls.times.forget()
  }

  /**
   * Returns the parts of the reply. `head`: arguments in front of those of the keys. Rejects with a `RedisFailure` if
   * the call failed or reached Redis after `deadlineAt` (process clock), in which case it has no effect.
   */
  protected async partsOf(
    head: readonly Arg[],
    requests: readonly KeyArgs[],
    deadlineAt: number,
  ): Promise<readonly unknown[]> {
    const keys = requests.map(({ name }) => name)
    const args = requests.flatMap((request) => request.args)
    const compose = (time: TimeArg): ScriptCall => ({ script: this.#script, keys, args: [time, ...head, ...args] })
    const reply = await this.#calls.run({ key: keys[0], compose, read: rawReply }, deadlineAt)
    if (!reply) throw lateFailure()
    return reply.parts
  }
}

function rawReply(reply: unknown): RawReply {
  const [late, now, ...parts] = reply as unknown[]
  if (!Number.isFinite(Number(now))) throw invalidReply()
  // a late call has no parts
  return { now: Number(now), late: Number(late) === 1, parts }
}
