import { soonest, type Transport } from '@sluice/fleet/backend'
import { lateFailure, type RedisFailure } from '../client/redis-failure.ts'
import { CROSSSLOT } from '../runners/custom-runner.ts'
import type { ServerState } from '../server-time/known-servers.ts'
import type { ScriptCall, TimeArg } from '../server-time/timed-calls.ts'
import type { CallBuilder } from './batch-call.ts'
import { BatchReply } from './batch-reply.ts'
import type { ScriptRequest } from './script-request.ts'

/** Decides requests in script calls, each with a deadline that the server checks. */
export class ScriptTransport implements Transport<ScriptRequest> {
  readonly lateFailure: () => RedisFailure = lateFailure
  readonly #servers: ServerState
  readonly #form: CallBuilder
  readonly #source: string

  /** `source` is the name of the backend, for decisions. */
  constructor(servers: ServerState, form: CallBuilder, source: string) {
    this.#servers = servers
    this.#form = form
    this.#source = source
  }

  /** Reads the time and the identity of the server if they are needed and not yet known. */
  prepare(requests: readonly ScriptRequest[]): Promise<void> | undefined {
    const isTimed = soonest(requests) < Number.POSITIVE_INFINITY
    const isIdentified = requests.some(needsIdentity)
    return isTimed || isIdentified ? this.#prepare(requests[0].names[0], isTimed, isIdentified) : undefined
  }

  call(requests: readonly ScriptRequest[], deadlineAt: number): Promise<BatchReply> {
    const key = requests[0].names[0]
    const compose = (time: TimeArg): ScriptCall => {
      const server = this.#report(requests) ? this.#servers.reports.numberOf(key) : undefined
      return this.#form.batch(requests, time, server)
    }
    const timed = { key, compose, read: (answer: unknown) => this.replyOf(answer) }
    return this.#servers.calls.send(timed, deadlineAt === Number.POSITIVE_INFINITY ? undefined : deadlineAt)
  }

  failed(error: unknown, requests: readonly ScriptRequest[]): RedisFailure {
    return this.#servers.reports.recordFailure(requests[0].names[0], error)
  }

  /** A server that turned out to be part of a cluster executed nothing. */
  repeats({ code }: RedisFailure): 'together' | undefined {
    return code === CROSSSLOT ? 'together' : undefined
  }

  replyOf(answer: unknown): BatchReply {
    return new BatchReply(answer, this.#source)
  }

  async #prepare(key: string, isTimed: boolean, isIdentified: boolean): Promise<void> {
    if (isTimed) await this.#servers.calls.ensureTime(key)
    if (isIdentified) await this.#servers.calls.ensureIdentity(key)
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
      ({ known }, index) => known && this.#servers.reports.reportOf(known, names[index], requestedAt),
    )
    return reported.some((report) => report) ? reported : undefined
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
