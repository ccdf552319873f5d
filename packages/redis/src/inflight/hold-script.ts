import { invalidReply } from '../client/redis-failure.ts'
import { inflightHold } from '../lua/scripts.ts'
import type { TimedCallsOptions } from '../server-time/timed-calls.ts'
import { type KeyArgs, ReportScript } from './report-script.ts'

/** What a call reports about one key, and what it requests. */
export interface HoldRequest extends KeyArgs {
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

/** Reports held places to Redis and requests more. */
export class HoldScript extends ReportScript {
  constructor(options: TimedCallsOptions) {
    super(inflightHold, options)
  }

  /** Returns one reply per request. Rejects like `partsOf`. */
  async run(
    { id, leaseMs }: Holder,
    requests: readonly HoldRequest[],
    deadlineAt: number,
  ): Promise<readonly HoldReply[]> {
    return repliesOf(requests, await this.partsOf([id, leaseMs], requests, deadlineAt))
  }
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
