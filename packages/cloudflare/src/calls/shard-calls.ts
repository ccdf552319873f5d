import { isUrgent, ServerState, sendAgain, soonest, stillWanted, TurnBatch } from '@sluice/fleet/backend'
import { type Clock, KEEP_ALIVE, type Observers } from '@sluice/limiter-core/backend'
import type { ReplyMessage } from './call-message.ts'
import {
  DurableObjectFailure,
  failureOf,
  invalidReply,
  lateFailure,
  unansweredFailure,
} from './durable-object-failure.ts'
import type { LimitStub } from './limit-namespace.ts'
import { answerOf, readReply } from './object-reply.ts'
import type { ObjectRequest } from './object-request.ts'
import type { WaitUntil } from './wait-until.ts'
import { writeCall } from './write-call.ts'

export interface ShardCallsOptions {
  /** Returns a new stub of the object: a request of a Worker cannot use the stub of another request. */
  readonly stub: () => LimitStub
  readonly waitUntil: WaitUntil | undefined
  readonly clock: Clock
  readonly serverTime: (() => number) | undefined
  readonly durable: boolean
  /** Maximum number of charges per call, unless a single request has more. */
  readonly maxBatch: number
  readonly observers: Observers
  /** Name of the backend, for decisions. */
  readonly source: string
}

/** Time in ms after which a call without a deadline is given up. */
const CALL_MS = 4_000
const OK = 200
/** The host is never resolved: the stub sends all requests to its object. */
const URL = 'https://sluice.invalid/'

/** Calls to the object of one shard, with a deadline that the object checks. */
export class ShardCalls {
  readonly server: ServerState
  readonly #options: ShardCallsOptions
  readonly #batch: TurnBatch<ObjectRequest> = new TurnBatch(() => this.#sendAll())

  constructor(options: ShardCallsOptions) {
    this.#options = options
    this.server = new ServerState(options.serverTime)
  }

  /**
   * Adds a request to the call that is sent after the current task. The task belongs to one request of a Worker, as the
   * call must, because the runtime cancels the calls of a request that has ended.
   */
  add(request: ObjectRequest): void {
    this.#batch.add(request, queueMicrotask)
  }

  #sendAll(): void {
    let rest = this.#batch.take()
    while (rest.length > 0) {
      const count = this.#countOfCall(rest)
      this.#keepRunning(this.#send(rest.slice(0, count)))
      rest = rest.slice(count)
    }
  }

  /** Lets the runtime finish calls that no caller awaits, such as refunds and probes. */
  #keepRunning(call: Promise<void>): void {
    try {
      this.#options.waitUntil?.(call)
    } catch {
      // not within a request of a Worker
    }
  }

  /** Returns how many of the first requests share a call. */
  #countOfCall(requests: readonly ObjectRequest[]): number {
    const [first] = requests
    let charges = 0
    const end = requests.findIndex((request, index) => {
      charges += request.charges.length
      // requests with a short deadline share no call with others: one would expire with the other
      return isUrgent(request) !== isUrgent(first) || (index > 0 && charges > this.#options.maxBatch)
    })
    return end < 0 ? requests.length : end
  }

  /** Never rejects. */
  async #send(requests: readonly ObjectRequest[]): Promise<void> {
    const { clock } = this.#options
    const wanted = stillWanted(requests, clock.now(), lateFailure)
    if (wanted.length === 0) return
    try {
      const reply = await this.#call(wanted)
      if (reply.late) sendAgain(wanted, clock.now(), lateFailure(), (request) => this.add(request))
      else this.#settle(wanted, reply)
    } catch (error) {
      const failure = failureOf(error)
      if (failure.code !== 'REPLY') this.server.failed()
      for (const request of wanted) request.reject(failure)
    }
  }

  async #call(requests: readonly ObjectRequest[]): Promise<ReplyMessage> {
    const { clock, durable } = this.#options
    const sentAt = clock.now()
    const toObjectTime = (processAt: number): number => this.#objectTime(processAt, sentAt)
    const body = writeCall({ ...this.#times(requests, toObjectTime), durable }, requests, toObjectTime)
    const reply = readReply(await this.#inTime(this.#fetch(body), requests, sentAt))
    this.server.replied(reply, sentAt, clock.now())
    return reply
  }

  async #fetch(body: string): Promise<string> {
    const response = await this.#options.stub().fetch(URL, { method: 'POST', body })
    const text = await response.text()
    if (response.status !== OK) throw invalidReply()
    return text
  }

  /**
   * Returns the result of `work`, or rejects after the latest deadline. The timer belongs to this request of a Worker,
   * unlike the timers of limiters, which end with the request that set them.
   */
  #inTime(work: Promise<string>, requests: readonly ObjectRequest[], sentAt: number): Promise<string> {
    const latest = Math.max(...requests.map((one) => (isUrgent(one) ? (one.deadlineAt as number) : sentAt + CALL_MS)))
    return new Promise((resolve, reject) => {
      const cancel = this.#options.clock.after(latest - sentAt, () => reject(unansweredFailure()), KEEP_ALIVE)
      // a user-provided clock may return nothing
      work.finally(() => cancel?.()).then(resolve, reject)
    })
  }

  /** Returns the deadline in the object's time, and the time that replaces the object's. */
  #times(
    requests: readonly ObjectRequest[],
    toObjectTime: (processAt: number) => number,
  ): { readonly deadline: number | null; readonly given: number | null } {
    const { serverTime } = this.#options
    if (serverTime) return { deadline: null, given: serverTime() }
    const deadlineAt = soonest(requests)
    return { deadline: deadlineAt === Number.POSITIVE_INFINITY ? null : toObjectTime(deadlineAt), given: null }
  }

  /**
   * Converts a time of the process to the object's clock. Before the first reply, the wall clocks are assumed to agree,
   * as they do within Cloudflare's network; a wrong assumption ends with the first reply.
   */
  #objectTime(processAt: number, now: number): number {
    return this.server.at(processAt) ?? this.#options.clock.wall() + processAt - now
  }

  #settle(requests: readonly ObjectRequest[], reply: ReplyMessage): void {
    for (const [index, request] of requests.entries()) {
      const moved = (charge: number, units: number): void => this.#moved(request.charges[charge], units)
      const answer = answerOf(reply, index, request, this.#options.source, moved)
      if (answer instanceof DurableObjectFailure) request.reject(answer)
      else request.resolve(answer)
    }
  }

  #moved({ key, counter, cost }: ObjectRequest['charges'][number], units: number): void {
    if (units >= cost) return
    this.#options.observers.event('lateCharge', { policy: counter.compiled.policy.name, key, units: cost - units })
  }
}
