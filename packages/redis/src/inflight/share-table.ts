import { randomBytes } from 'node:crypto'
import type { Cap, KeyShare, SharedKey } from '@sluice/limiter-core'
import { type Clock, Deadlines, type Interruption, KEEP_ALIVE } from '@sluice/limiter-core/backend'
import { failureOf, RedisFailure } from '../client/redis-failure.ts'
import type { TimedCallsOptions } from '../server-time/timed-calls.ts'
import { ShareMember, type ShareMemberDeps } from './share-member.ts'
import { type ShareReply, ShareScript } from './share-script.ts'
import { WaitingBySlot } from './waiting-by-slot.ts'

/** Code of a report that arrived after a later one. */
const STALE = 'STALE'
/** Part of a lease after which a reply is no longer waited for, and the longest such time. */
const [CALL, CALL_MS] = [1 / 8, 1_000]

export interface ShareTableOptions extends TimedCallsOptions {
  readonly leaseMs: number
  readonly deadlineMs: number
  /** Returns the Redis key for a key of a cap. */
  readonly shareNameOf: (key: string, cap: Cap) => string
  readonly hashSlotOf: (name: string) => number
  readonly failed: (failure: RedisFailure) => void
}

/** The shares of this process in learned limits. All keys report together, and one timer serves all. */
export class ShareTable {
  readonly #options: ShareTableOptions
  readonly #clock: Clock
  readonly #script: ShareScript
  readonly #callMs: number
  readonly #calls: Deadlines
  readonly #openings: Deadlines
  readonly #deps: ShareMemberDeps
  readonly #members = new Set<ShareMember>()
  /** Random id of this process. */
  readonly #process = randomBytes(9).toString('base64url')
  #joined = 0
  #isClosed = false
  #timerAt = Number.POSITIVE_INFINITY
  #cancel: (() => void) | undefined

  constructor(options: ShareTableOptions) {
    const { clock, leaseMs, deadlineMs } = options
    this.#options = options
    this.#clock = clock
    this.#script = new ShareScript(options)
    this.#callMs = Math.min(CALL_MS, Math.ceil(leaseMs * CALL))
    this.#calls = new Deadlines(clock, this.#callMs)
    this.#openings = new Deadlines(clock, deadlineMs, KEEP_ALIVE)
    this.#deps = {
      clock,
      leaseMs,
      inTime: (promise) => this.#inTime(promise),
      hurried: ({ dueAt }) => this.#arm(dueAt),
      joined: (member) => this.#join(member),
    }
  }

  share(key: string, cap: Cap, shared: SharedKey, grown: () => void): KeyShare {
    const id = `${this.#process}.${++this.#joined}`
    return new ShareMember(this.#deps, { name: this.#options.shareNameOf(key, cap), id, cap, shared, grown })
  }

  interrupted(event: Interruption): void {
    if (event === 'lost') this.#script.forget()
    if (event === 'back') for (const member of this.#members) member.reportSoon()
  }

  /** Gives all shares back within the deadline. Held permits are only counted in this process from now on. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    this.#cancel = undefined
    const members = [...this.#members]
    this.#members.clear()
    await this.#inTime(this.#sendAll(members.filter(({ busy }) => !busy)))
    for (const member of members) member.close()
    this.#openings.close()
    this.#calls.close()
  }

  async #inTime(promise: Promise<unknown>): Promise<void> {
    const done = (): void => {}
    await this.#openings.race(promise, { answered: done, failed: done, late: done })
  }

  #join(member: ShareMember): void {
    if (this.#isClosed) member.close()
    else this.#members.add(member)
  }

  #arm(dueAt: number): void {
    if (this.#isClosed || dueAt >= this.#timerAt) return
    this.#cancel?.()
    this.#timerAt = dueAt
    this.#cancel = this.#clock.after(Math.max(0, dueAt - this.#clock.now()), () => this.#tick())
  }

  #tick(): void {
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#cancel = undefined
    const now = this.#clock.now()
    void this.#sendAll([...this.#members].filter((member) => member.mayReport(now)))
    this.#armNext()
  }

  #armNext(): void {
    let dueAt = Number.POSITIVE_INFINITY
    for (const member of this.#members) if (!member.busy && member.dueAt < dueAt) dueAt = member.dueAt
    this.#arm(dueAt)
  }

  async #sendAll(members: readonly ShareMember[]): Promise<void> {
    const waiting = new WaitingBySlot<ShareMember>(this.#options.hashSlotOf)
    for (const member of members) waiting.add(member)
    const calls: Promise<void>[] = []
    while (waiting.any) calls.push(this.#send(waiting.take()))
    await Promise.all(calls)
  }

  async #send(members: readonly ShareMember[]): Promise<void> {
    const sentAt = this.#clock.now()
    const requests = members.map((member) => member.request(sentAt, this.#isClosed))
    await this.#calls.race(this.#script.run(requests, sentAt + this.#callMs), {
      answered: (replies) => {
        for (const [index, member] of members.entries()) this.#answered(member, replies[index])
      },
      failed: (error) => this.#failed(members, failureOf(error)),
      late: () => this.#failed(members, new RedisFailure('LATE', `Redis did not reply within ${this.#callMs} ms`)),
    })
    for (const member of members) if (member.isOut) this.#members.delete(member)
    this.#armNext()
  }

  #failed(members: readonly ShareMember[], failure: RedisFailure): void {
    if (!this.#isClosed) this.#options.failed(failure)
    for (const member of members) member.failed(this.#clock.now(), false)
  }

  #answered(member: ShareMember, reply: ShareReply): void {
    if (!reply.failure) {
      member.answered(reply)
      return
    }
    const isStale = reply.failure.code === STALE
    if (!isStale) this.#options.failed(reply.failure)
    member.failed(this.#clock.now(), isStale)
  }
}
