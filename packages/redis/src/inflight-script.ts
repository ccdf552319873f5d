import { randomBytes } from 'node:crypto'
import type { Clock, ScriptRunner } from '@sluice/limiter-core'
import type { HoldReply, HoldRequest } from './inflight-request.ts'
import { inflightHold } from './lua/inflight-hold.ts'
import { noReply, RedisFailure } from './redis-failure.ts'
import { ServerTime } from './server-time.ts'

export interface HoldScriptOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly leaseMs: number
  readonly serverTime: (() => number) | undefined
}

/** Says to the server what this process holds. Rejects where nothing was said, or nobody knows. */
export class HoldScript {
  readonly #options: HoldScriptOptions
  readonly #time: ServerTime
  /** By which the server knows this process. */
  readonly #process = randomBytes(9).toString('base64url')

  constructor(options: HoldScriptOptions) {
    this.#options = options
    this.#time = new ServerTime(options.runner, options.clock)
  }

  /** Another server may answer from now on. */
  forget(): void {
    this.#time.forget()
  }

  /** One answer for each request. After `deadlineAt` of the process clock the call does nothing. */
  async run(requests: readonly HoldRequest[], deadlineAt: number): Promise<readonly HoldReply[]> {
    const keys = requests.map(({ holding }) => holding.name)
    const args = requests.flatMap((request) => request.args)
    const reply = (await this.#once(keys, args, deadlineAt)) ?? (await this.#once(keys, args, deadlineAt))
    if (reply === undefined) throw new RedisFailure('LATE', 'the call came after its deadline, and did nothing')
    return heardOf(requests, reply)
  }

  /** Undefined where the server found that the call came too late. What it then told of its clock may prove it wrong. */
  async #once(
    keys: readonly string[],
    args: readonly number[],
    deadlineAt: number,
  ): Promise<readonly unknown[] | undefined> {
    const { runner, clock, leaseMs, serverTime } = this.#options
    const [key] = keys
    const deadline = serverTime ? '' : await this.#deadline(key, deadlineAt)
    const sentAt = clock.now()
    if (sentAt > deadlineAt) return undefined
    const own = [deadline, serverTime?.() ?? '', this.#process, leaseMs]
    const [late, now, ...reply] = (await runner.run(inflightHold, keys, [...own, ...args], { deadlineAt })) as unknown[]
    if (!Number.isFinite(Number(now))) throw noReply()
    this.#time.told(key, Number(now), sentAt)
    return Number(late) === 1 ? undefined : reply
  }

  async #deadline(key: string, deadlineAt: number): Promise<number> {
    const known = this.#time.deadline(key, deadlineAt)
    if (known !== undefined) return known
    await this.#time.ask(key)
    return this.#time.deadline(key, deadlineAt) ?? deadlineAt
  }
}

function heardOf(requests: readonly HoldRequest[], reply: readonly unknown[]): HoldReply[] {
  let at = 0
  return requests.map(({ replies }) => {
    const [kept, total, ...granted] = reply.slice(at, at + replies)
    at += replies
    const failure = Number.isNaN(Number(kept)) ? String(kept) : undefined
    const numbers = [kept, total, ...granted].map(Number)
    const isWhole = granted.length === replies - 2 && numbers.every((one) => Number.isInteger(one) && one >= 0)
    if (failure === undefined && !isWhole) throw noReply()
    return { failure, kept: Number(kept), total: Number(total), granted: granted.map(Number) }
  })
}
