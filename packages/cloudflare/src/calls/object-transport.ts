import { answeredBy, givenUpAt, type RemoteRequest, type ServerState, type Transport } from '@sluice/fleet/backend'
import type { Clock } from '@sluice/limiter-core/backend'
import {
  type DurableObjectFailure,
  failureOf,
  invalidReply,
  lateFailure,
  unansweredFailure,
} from './durable-object-failure.ts'
import type { LimitStub } from './limit-namespace.ts'
import { ObjectReply } from './object-reply.ts'
import { writeCall } from './write-call.ts'

export interface ObjectTransportOptions {
  /** Returns a new stub of the object: a request of a Worker cannot use the stub of another request. */
  readonly stub: () => LimitStub
  readonly server: ServerState
  readonly clock: Clock
  readonly durable: boolean
  /** Name of the backend, for decisions. */
  readonly source: string
}

const OK = 200
/** The host is never resolved: the stub sends all requests to its object. */
const URL = 'https://sluice.invalid/'

/** Decides requests in calls of the object of one shard, each with a deadline that the object checks. */
export class ObjectTransport implements Transport {
  readonly lateFailure: () => DurableObjectFailure = lateFailure
  readonly #options: ObjectTransportOptions

  constructor(options: ObjectTransportOptions) {
    this.#options = options
  }

  async call(requests: readonly RemoteRequest[], deadlineAt: number): Promise<ObjectReply> {
    const { server, clock, durable, source } = this.#options
    const sentAt = clock.now()
    const times = { ...server.timesOf(deadlineAt), durable }
    const body = writeCall(times, requests, (processAt) => server.at(processAt))
    // the timer belongs to this request of a Worker, unlike the timers of limiters, which end with the request that set them
    const latest = givenUpAt(requests, sentAt)
    const reply = new ObjectReply(await answeredBy(this.#fetch(body), latest, clock, unansweredFailure), source)
    server.replied(reply, sentAt)
    return reply
  }

  failed(error: unknown): DurableObjectFailure {
    const failure = failureOf(error)
    if (failure.code !== 'REPLY') this.#options.server.failed()
    return failure
  }

  async #fetch(body: string): Promise<string> {
    const response = await this.#options.stub().fetch(URL, { method: 'POST', body })
    const text = await response.text()
    if (response.status !== OK) throw invalidReply()
    return text
  }
}
