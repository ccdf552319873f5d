import { RemoteCalls, type RemoteCallsOptions } from '@sluice/fleet/backend'
import {
  type Answer,
  type Charge,
  type Clock,
  type Observers,
  retentionMs,
  type ScriptRunner,
  type SoleDecision,
} from '@sluice/limiter-core/backend'
import { hashSlot } from '../client/hash-slot.ts'
import { lateFailure, RedisFailure } from '../client/redis-failure.ts'
import { resetScript } from '../lua/scripts.ts'
import { markOf, resultOf } from '../lua/side-keys.ts'
import type { ServerState } from '../server-time/known-servers.ts'
import type { TimedCalls } from '../server-time/timed-calls.ts'
import type { CallBuilder } from './batch-call.ts'
import type { BatchReply } from './batch-reply.ts'
import { NativeTakes } from './native-takes.ts'
import { requestOfOne, type ScriptRequest } from './script-request.ts'
import { ScriptTransport } from './script-transport.ts'

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

/** Sends requests in script calls. In a cluster, each call has the keys of one slot. */
export class ExactCalls {
  readonly #options: ExactCallsOptions
  readonly #timed: TimedCalls
  readonly #transport: ScriptTransport
  readonly #callsOf = new Map<number, RemoteCalls<ScriptRequest>>()
  readonly #native: NativeTakes | undefined

  constructor(options: ExactCallsOptions) {
    this.#options = options
    const { runner, clock, source, servers, form } = options
    this.#timed = servers.calls
    this.#transport = new ScriptTransport(servers, form, source)
    this.#native = options.nativeCommands ? new NativeTakes({ runner, clock, source, timed: this.#timed }) : undefined
  }

  /** Queues `request`. It is settled with its call, or rejected without a call if its deadline has passed. */
  add(request: ScriptRequest): void {
    if (request.operation === 'reset') this.#reset(request)
    else this.#calls(request.names[0]).add(request)
  }

  /** Takes one enforced charge without prior usage, with a native command if possible. */
  takeOne(charge: Charge, name: string, deadlineAt: number | undefined): Promise<SoleDecision> {
    const taken = this.#native?.take(charge, name, deadlineAt)
    if (!taken) return this.#takeByScript(charge, name, deadlineAt)
    return taken.then(
      (decision) => decision ?? this.#takeByScript(charge, name, deadlineAt),
      (error) => {
        throw this.#options.servers.reports.recordFailure(name, error)
      },
    )
  }

  /**
   * If no other call is pending, sends the take in its own call with as few promises and objects as possible.
   */
  #takeByScript(charge: Charge, name: string, deadlineAt: number | undefined): Promise<SoleDecision> {
    const calls = this.#calls(name)
    const isPrompt = calls.queue.isIdle && !this.#options.runner.perTask
    const taken = isPrompt ? this.#takeAtOnce(calls, charge, name, deadlineAt) : undefined
    if (taken) return taken
    const [request, decided] = requestOfOne(charge, name, deadlineAt)
    calls.add(request)
    return decided
  }

  /** Returns undefined if the time of the server must be read first. */
  #takeAtOnce(
    calls: RemoteCalls<ScriptRequest>,
    charge: Charge,
    name: string,
    deadlineAt: number | undefined,
  ): Promise<SoleDecision> | undefined {
    const { runner, clock, form, servers } = this.#options
    const sentAt = clock.now()
    const time = this.#timed.timeNow(name, deadlineAt, sentAt)
    if (time === undefined) return undefined
    const { script, keys, args } = form.single(charge.counter, charge.cost, name, time)
    const { queue } = calls
    queue.began()
    return runner.run(script, keys, args, deadlineAt === undefined ? undefined : { deadlineAt }).then(
      (answer) => {
        queue.ended()
        return this.#decided(charge, name, deadlineAt, sentAt, this.#transport.replyOf(answer))
      },
      (error) => {
        queue.ended()
        throw servers.reports.recordFailure(name, error)
      },
    )
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
      this.#calls(name).again([request])
      return decided
    }
    const decision = reply.nextDecision(charge.counter.compiled)
    if (decision instanceof RedisFailure) throw decision
    return decision
  }

  #reset(request: ScriptRequest): void {
    this.#sendReset(request).then(request.resolve, request.reject)
  }

  /** Deletes the Redis keys of a request. */
  async #sendReset({ names, charges, id, deadlineAt }: ScriptRequest): Promise<Answer> {
    const [key] = names
    const keys = [...names, ...names.flatMap((name) => [markOf(name), resultOf(name, id)])]
    // milliseconds during which earlier usage of a key could still be reported, and must be ignored
    const forgetsMs = charges.map(({ counter }) => retentionMs(counter.compiled))
    await this.#timed.ensureTime(key)
    const reply = await this.#timed.send(
      {
        key,
        compose: (time) => ({ script: resetScript, keys, args: [time, id, ...forgetsMs] }),
        read: (answer) => this.#transport.replyOf(answer),
      },
      deadlineAt,
    )
    if (reply.late) throw lateFailure()
    return { verdicts: [], takenAt: reply.now, counted: true, source: this.#options.source }
  }

  #calls(name: string): RemoteCalls<ScriptRequest> {
    const slot = this.#options.runner.clustered ? hashSlot(name) : 0
    let calls = this.#callsOf.get(slot)
    if (!calls) {
      calls = new RemoteCalls(this.#callOptions(slot))
      this.#callsOf.set(slot, calls)
    }
    return calls
  }

  #callOptions(slot: number): RemoteCallsOptions<ScriptRequest> {
    const { runner, clock, observers, maxBatch } = this.#options
    return {
      transport: this.#transport,
      clock,
      observers,
      maxBatch,
      isPrompt: !runner.perTask,
      schedule: runner.perTask ? queueMicrotask : undefined,
      // in a cluster there may be thousands of slots, so idle queues are deleted; a single server needs one queue
      idle: () => runner.clustered && this.#callsOf.delete(slot),
      // a request whose server turned out to be part of a cluster belongs to another queue
      resend: (request) => this.add(request),
    }
  }
}
