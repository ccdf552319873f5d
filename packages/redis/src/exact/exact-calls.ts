import { sendAgain, soonest, stillWanted } from '@sluice/fleet/backend'
import type { Charge, Clock, Observers, ScriptRunner, SoleDecision } from '@sluice/limiter-core/backend'
import { hashSlot } from '../client/hash-slot.ts'
import { lateFailure, RedisFailure, unsentFailure } from '../client/redis-failure.ts'
import { resetScript } from '../lua/scripts.ts'
import { markOf, resultOf } from '../lua/side-keys.ts'
import { CROSSSLOT } from '../runners/custom-runner.ts'
import type { ServerState } from '../server-time/known-servers.ts'
import type { ScriptCall, TimeArg, TimedCalls } from '../server-time/timed-calls.ts'
import type { UsageReports } from '../server-time/usage-reports.ts'
import type { CallBuilder } from './batch-call.ts'
import { BatchReply } from './batch-reply.ts'
import { NativeTakes } from './native-takes.ts'
import { ScriptQueue } from './script-queue.ts'
import { requestOfOne, type ScriptRequest } from './script-request.ts'

export interface ExactCallsOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly servers: ServerState
  readonly form: CallBuilder
  /** Name of the backend, for decisions. */
  readonly source: string
  readonly maxBatch: number
  readonly observers: Observers
  /** Whether takes are sent as native commands if possible. Default: false. */
  readonly nativeCommands?: boolean
}

/**
 * Sends requests in batches, with a deadline that the server checks. In a cluster each batch has the keys of one slot.
 */
export class ExactCalls {
  readonly #options: ExactCallsOptions
  readonly #timed: TimedCalls
  readonly #reports: UsageReports
  readonly #queues = new Map<number, ScriptQueue>()
  readonly #native: NativeTakes | undefined

  constructor(options: ExactCallsOptions) {
    this.#options = options
    this.#timed = options.servers.calls
    this.#reports = options.servers.reports
    const { runner, clock, source } = options
    this.#native = options.nativeCommands ? new NativeTakes({ runner, clock, source, timed: this.#timed }) : undefined
  }

  /** Queues `request`. It is settled with its call, or rejected without a call if its deadline has passed. */
  add(request: ScriptRequest): void {
    this.#queueOf(request.names[0]).add(request)
  }

  /** Takes one enforced charge without prior usage, with a native command if possible. */
  takeOne(charge: Charge, name: string, deadlineAt: number | undefined): Promise<SoleDecision> {
    const taken = this.#native?.take(charge, name, deadlineAt)
    if (!taken) return this.#takeByScript(charge, name, deadlineAt)
    return taken.then(
      (decision) => decision ?? this.#takeByScript(charge, name, deadlineAt),
      (error) => {
        throw this.#reports.recordFailure(name, error)
      },
    )
  }

  /**
   * If no other call is pending, sends the take in its own call with as few promises and objects as possible.
   */
  #takeByScript(charge: Charge, name: string, deadlineAt: number | undefined): Promise<SoleDecision> {
    const { runner } = this.#options
    const queue = this.#queueOf(name)
    const taken = queue.isIdle && !runner.perTask ? this.#takeAtOnce(queue, charge, name, deadlineAt) : undefined
    if (taken) return taken
    const [request, decided] = requestOfOne(charge, name, deadlineAt)
    queue.add(request)
    return decided
  }

  /** Returns undefined if the time of the server must be read first. */
  #takeAtOnce(
    queue: ScriptQueue,
    charge: Charge,
    name: string,
    deadlineAt: number | undefined,
  ): Promise<SoleDecision> | undefined {
    const { runner, clock, form } = this.#options
    const sentAt = clock.now()
    const time = this.#timed.timeNow(name, deadlineAt, sentAt)
    if (time === undefined) return undefined
    const { script, keys, args } = form.single(charge.counter, charge.cost, name, time)
    queue.began()
    return runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }).then(
      (answer) => {
        queue.ended()
        return this.#decided(charge, name, deadlineAt, sentAt, this.#replyOf(answer))
      },
      (error) => {
        queue.ended()
        throw this.#reports.recordFailure(name, error)
      },
    )
  }

  /**
   * Deletes Redis keys of one slot. `retentionMs` contains, for each key, the ms during which earlier usage of the key
   * could still be reported and must be ignored.
   */
  async reset(names: readonly string[], forgetsMs: readonly number[], id: string, deadlineAt: number): Promise<void> {
    const [key] = names
    const keys = [...names, ...names.flatMap((name) => [markOf(name), resultOf(name, id)])]
    await this.#timed.ensureTime(key)
    const reply = await this.#timed.send(
      {
        key,
        compose: (time) => ({ script: resetScript, keys, args: [time, id, ...forgetsMs] }),
        read: (answer) => this.#replyOf(answer),
      },
      deadlineAt,
    )
    if (reply.late) throw lateFailure()
  }

  #queueOf(name: string): ScriptQueue {
    const slot = this.#options.runner.clustered ? hashSlot(name) : 0
    let queue = this.#queues.get(slot)
    if (!queue) {
      queue = new ScriptQueue(
        this.#options.maxBatch,
        (requests) => this.#send(requests),
        // in a cluster there may be thousands of slots, so idle queues are deleted; a single server needs one queue
        () => this.#options.runner.clustered && this.#queues.delete(slot),
        this.#options.runner.perTask,
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
  ): SoleDecision | Promise<SoleDecision> {
    this.#timed.recordTime(name, reply.now, sentAt)
    if (reply.late) {
      const [request, decided] = requestOfOne(charge, name, deadlineAt)
      this.#again([request])
      return decided
    }
    const decision = reply.nextDecision(charge.counter.compiled)
    if (decision instanceof RedisFailure) throw decision
    return decision
  }

  /** Sends a batch. Never rejects; resolves with a function that settles the requests. */
  async #send(requests: readonly ScriptRequest[]): Promise<() => void> {
    const key = requests[0].names[0]
    let isSent = false
    try {
      const isTimed = soonest(requests) < Number.POSITIVE_INFINITY
      if (isTimed) await this.#timed.ensureTime(key)
      if (requests.some(needsIdentity)) await this.#timed.ensureIdentity(key)
      const wanted = stillWanted(requests, this.#options.clock.now(), lateFailure)
      if (wanted.length === 0) return () => {}
      isSent = true
      const reply = await this.#call(wanted, isTimed ? soonest(wanted) : undefined)
      return () => (reply.late ? this.#again(wanted) : this.#settle(wanted, reply))
    } catch (error) {
      const failed = this.#reports.recordFailure(key, error)
      if (failed.code === CROSSSLOT) return () => this.#again(requests, failed)
      const failure = isSent ? failed : unsentFailure(failed)
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
    return this.#timed.send({ key, compose, read: (answer) => this.#replyOf(answer) }, deadlineAt)
  }

  #replyOf(answer: unknown): BatchReply {
    return new BatchReply(answer, this.#options.source)
  }

  /**
   * Sets the usage report of each request. Returns whether the call must contain the server number, because a request
   * reports usage or refunds units.
   */
  #report(requests: readonly ScriptRequest[]): boolean {
    let needsServer = false
    for (const request of requests) {
      if (request.flat) continue
      request.reported = this.#reportOf(request)
      needsServer ||= request.reported !== undefined || isRefund(request)
    }
    return needsServer
  }

  /** Returns the usage reports for the charges of a request; undefined if there is nothing to report. */
  #reportOf({ charges, names, requestedAt }: ScriptRequest): ScriptRequest['reported'] {
    if (!charges.some(({ known }) => known)) return undefined
    const reported = charges.map(
      ({ known }, index) => known && this.#reports.reportOf(known, names[index], requestedAt),
    )
    return reported.some((report) => report) ? reported : undefined
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

  /**
   * Sends requests once more if their deadline has not passed: the reply contained the correct time of the server, or
   * revealed that the server is part of a cluster. Rejects the other requests with `failure`.
   */
  #again(requests: readonly ScriptRequest[], failure: RedisFailure = lateFailure()): void {
    sendAgain(requests, this.#options.clock.now(), failure, (request) => this.add(request))
  }
}

/** Whether the identity of the server must be known, because the request may report lost usage or refunds units. */
function needsIdentity(request: ScriptRequest): boolean {
  // a flat request has no prior usage
  return !request.flat && (isRefund(request) || request.charges.some(({ known }) => (known?.used ?? 0) > 0))
}

function isRefund({ operation, charges }: ScriptRequest): boolean {
  return operation === 'adjust' && charges.some(({ cost, hold }) => cost < 0 || hold !== undefined)
}
