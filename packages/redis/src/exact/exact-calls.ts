import type { Charge, Clock, Observers, ScriptRunner, SourcedDecision } from '@sluice/limiter-core/backend'
import { CROSSSLOT } from '../client/given-runner.ts'
import { hashSlot } from '../client/hash-slot.ts'
import type { KnownServers } from '../client/known-servers.ts'
import { neverSent, RedisFailure, reachedLate } from '../client/redis-failure.ts'
import type { ScriptCall, TimeArg, TimedCalls } from '../client/timed-calls.ts'
import type { UsageReports } from '../client/usage-reports.ts'
import { resetScript } from '../lua/scripts.ts'
import type { CallForm } from './batch-call.ts'
import { BatchReply } from './batch-reply.ts'
import { ScriptQueue } from './script-queue.ts'
import { requestOfOne, type ScriptRequest } from './script-request.ts'

export interface ExactCallsOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly servers: KnownServers
  readonly form: CallForm
  /** The name of the backend that answers. */
  readonly source: string
  readonly maxBatch: number
  readonly observers: Observers
}

/** Sends requests in batches, in a cluster one for each slot, each batch with a deadline that the server keeps. */
export class ExactCalls {
  readonly #options: ExactCallsOptions
  readonly #timed: TimedCalls
  readonly #reports: UsageReports
  readonly #queues = new Map<number, ScriptQueue>()

  constructor(options: ExactCallsOptions) {
    this.#options = options
    this.#timed = options.servers.calls
    this.#reports = options.servers.reports
  }

  /** Settles `request` when the runner settles its call, or at once where nobody waits for it any more. */
  add(request: ScriptRequest): void {
    this.#queueOf(request.names[0]).add(request)
  }

  /**
   * Takes one enforced charge of which nothing is known from before: by a call of its own where nothing is under way,
   * with as few promises and objects as that needs.
   */
  takeOne(charge: Charge, name: string, deadlineAt: number | undefined): Promise<SourcedDecision> {
    const queue = this.#queueOf(name)
    const taken = queue.isIdle ? this.#takeAtOnce(queue, charge, name, deadlineAt) : undefined
    if (taken) return taken
    const [request, decided] = requestOfOne(charge, name, deadlineAt)
    queue.add(request)
    return decided
  }

  /** Undefined where the time of the server must be asked for first. */
  #takeAtOnce(
    queue: ScriptQueue,
    charge: Charge,
    name: string,
    deadlineAt: number | undefined,
  ): Promise<SourcedDecision> | undefined {
    const { runner, clock, form } = this.#options
    const sentAt = clock.now()
    const time = this.#timed.timeNow(name, deadlineAt, sentAt)
    if (time === undefined) return undefined
    const { script, keys, args } = form.sole(charge.counter, charge.cost, name, time)
    queue.began()
    return runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }).then(
      (answer) => {
        queue.ended()
        return this.#decided(charge, name, deadlineAt, sentAt, this.#replyOf(answer))
      },
      (error) => {
        queue.ended()
        throw this.#reports.failed(name, error)
      },
    )
  }

  /** Forgets names of one slot, of each of which what was known before may matter for so many ms. */
  async reset(names: readonly string[], forgetsMs: readonly number[], id: string, deadlineAt: number): Promise<void> {
    const [key] = names
    await this.#timed.knowTime(key)
    const reply = await this.#timed.once(
      {
        key,
        compose: (time) => ({ script: resetScript, keys: names, args: [time, id, ...forgetsMs] }),
        read: (answer) => this.#replyOf(answer),
      },
      deadlineAt,
    )
    if (reply.late) throw reachedLate()
  }

  #queueOf(name: string): ScriptQueue {
    const slot = this.#options.runner.clustered ? hashSlot(name) : 0
    let queue = this.#queues.get(slot)
    if (!queue) {
      queue = new ScriptQueue(
        this.#options.maxBatch,
        (requests) => this.#send(requests),
        // one for each slot would add up; where there are no slots the only one stays
        () => this.#options.runner.clustered && this.#queues.delete(slot),
      )
      this.#queues.set(slot, queue)
    }
    return queue
  }

  #decided(
    charge: Charge,
    name: string,
    deadlineAt: number | undefined,
    sentAt: number,
    reply: BatchReply,
  ): SourcedDecision | Promise<SourcedDecision> {
    this.#timed.reported(name, reply.now, sentAt)
    if (reply.late) {
      const [request, decided] = requestOfOne(charge, name, deadlineAt)
      this.#again([request])
      return decided
    }
    const decision = reply.nextDecision(charge.counter.compiled.policy)
    if (decision instanceof RedisFailure) throw decision
    return decision
  }

  /** Answers how to settle the requests. */
  async #send(requests: readonly ScriptRequest[]): Promise<() => void> {
    const key = requests[0].names[0]
    let isSent = false
    try {
      const isTimed = soonest(requests) < Number.POSITIVE_INFINITY
      if (isTimed) await this.#timed.knowTime(key)
      if (requests.some(mindsServer)) await this.#timed.knowIdentity(key)
      const wanted = this.#stillWanted(requests)
      if (wanted.length === 0) return () => {}
      isSent = true
      const reply = await this.#call(wanted, isTimed ? soonest(wanted) : undefined)
      return () => (reply.late ? this.#again(wanted) : this.#settle(wanted, reply))
    } catch (error) {
      const failed = this.#reports.failed(key, error)
      if (failed.code === CROSSSLOT) return () => this.#again(requests, failed)
      const failure = isSent ? failed : neverSent(failed)
      return () => {
        for (const request of requests) request.reject(failure)
      }
    }
  }

  #call(requests: readonly ScriptRequest[], deadlineAt: number | undefined): Promise<BatchReply> {
    const key = requests[0].names[0]
    const compose = (time: TimeArg): ScriptCall => {
      const server = this.#report(requests) ? this.#reports.numberOf(key) : undefined
      return this.#options.form.batch(requests, time, server)
    }
    return this.#timed.once({ key, compose, read: (answer) => this.#replyOf(answer) }, deadlineAt)
  }

  #replyOf(answer: unknown): BatchReply {
    return new BatchReply(answer, this.#options.source)
  }

  /** Writes into each request what its server is told of its keys. Answers whether it matters to any which server that is. */
  #report(requests: readonly ScriptRequest[]): boolean {
    let isMinded = false
    for (const request of requests) {
      if (request.flat) continue
      request.reported = this.#reportOf(request)
      isMinded ||= request.reported !== undefined || givesBack(request)
    }
    return isMinded
  }

  /** What the server of a request is told of its keys; undefined where that is nothing. */
  #reportOf({ charges, names, askedAt }: ScriptRequest): ScriptRequest['reported'] {
    if (!charges.some(({ known }) => known)) return undefined
    const reported = charges.map(({ known }, index) => known && this.#reports.reportOf(known, names[index], askedAt))
    return reported.some((one) => one) ? reported : undefined
  }

  #settle(requests: readonly ScriptRequest[], reply: BatchReply): void {
    for (const request of requests) {
      const answer = reply.next(request, (charge, units) => this.#moved(request.charges[charge], units))
      if (answer instanceof RedisFailure) request.reject(answer)
      else request.resolve(answer)
    }
  }

  #moved({ key, counter, cost }: Charge, units: number): void {
    if (units >= cost) return
    this.#options.observers.event('lateCharge', { policy: counter.compiled.policy.name, key, units: cost - units })
  }

  /** The reply has told the right time of the server, or that it is one of several: who still waits is asked for once more. */
  #again(requests: readonly ScriptRequest[], failure: RedisFailure = reachedLate()): void {
    const now = this.#options.clock.now()
    for (const request of requests) {
      if (request.retried || (request.deadlineAt ?? Number.POSITIVE_INFINITY) <= now) request.reject(failure)
      else {
        request.retried = true
        this.add(request)
      }
    }
  }

  #stillWanted(requests: readonly ScriptRequest[]): readonly ScriptRequest[] {
    const now = this.#options.clock.now()
    if (soonest(requests) > now) return requests
    return requests.filter((request) => {
      const wanted = request.deadlineAt === undefined || request.deadlineAt > now
      if (!wanted) request.reject(reachedLate())
      return wanted
    })
  }
}

/** Whether a request must know who its server is: it may tell it what it lost, or gives units back. */
function mindsServer(request: ScriptRequest): boolean {
  // of a flat one nothing is known from before
  return !request.flat && (givesBack(request) || request.charges.some(({ known }) => (known?.used ?? 0) > 0))
}

function givesBack({ operation, charges }: ScriptRequest): boolean {
  return operation === 'adjust' && charges.some(({ cost }) => cost < 0)
}

function soonest(requests: readonly ScriptRequest[]): number {
  let soonestAt = Number.POSITIVE_INFINITY
  for (const { deadlineAt } of requests) if (deadlineAt !== undefined && deadlineAt < soonestAt) soonestAt = deadlineAt
  return soonestAt
}
