import { failureOfText, invalidReply, type RedisFailure } from '../client/redis-failure.ts'
import { inflightShares } from '../lua/scripts.ts'
import type { TimedCallsOptions } from '../server-time/timed-calls.ts'
import { type KeyArgs, ReportScript } from './report-script.ts'

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

/** Number of reply elements of a key. */
const ELEMENTS = 11

/** Reports what this process holds of learned limits, and receives its shares. */
export class ShareScript extends ReportScript {
  readonly #leaseMs: number

  constructor(options: TimedCallsOptions & { readonly leaseMs: number }) {
    super(inflightShares, options)
    this.#leaseMs = options.leaseMs
  }

  /** Returns one reply per request. Rejects like `partsOf`. */
  async run(requests: readonly KeyArgs[], deadlineAt: number): Promise<readonly ShareReply[]> {
    const parts = await this.partsOf([this.#leaseMs], requests, deadlineAt)
    if (parts.length !== ELEMENTS * requests.length) throw invalidReply()
    return requests.map((_, index) => replyOf(parts.slice(ELEMENTS * index, ELEMENTS * (index + 1))))
  }
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
