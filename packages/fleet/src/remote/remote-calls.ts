import type { Answer, Charge, Clock, Observers } from '@sluice/limiter-core/backend'
import type { RemoteFailure } from './remote-failure.ts'
import type { RemoteRequest } from './remote-request.ts'
import { RequestQueue, type RequestQueueOptions } from './request-queue.ts'
import { isUrgent, sendAgain, soonest, stillWanted } from './timed-request.ts'

/** Reply to a call. */
export interface RemoteReply<R extends RemoteRequest = RemoteRequest> {
  /** Whether the deadline had passed, so that the server did nothing. */
  readonly late: boolean
  /**
   * Returns the answer to the next request in the order of the call. For an adjustment, `moved` is called for each charge
   * with the number of units that were applied.
   */
  next(request: R, moved: (charge: number, units: number) => void): Answer | RemoteFailure
}

/** How requests reach a server: what a kind of server adds to `RemoteCalls`. */
export interface Transport<R extends RemoteRequest = RemoteRequest> {
  /** Prepares a call, for example reads the clock of the server. Undefined if nothing is needed. May reject. */
  prepare?(requests: readonly R[]): Promise<unknown> | undefined
  /** Decides requests in one call. `deadlineAt`: process time after which the server does nothing; Infinity for none. */
  call(requests: readonly R[], deadlineAt: number): Promise<RemoteReply<R>>
  /** Converts a rejection of `prepare` or `call`, and records that the server failed. */
  failed(error: unknown, requests: readonly R[]): RemoteFailure
  /** Returns the failure of a request whose deadline has passed, so that it is not counted. */
  lateFailure(): RemoteFailure
  /** Whether a call had no effect and is sent again: in one call with others, or each request alone. Default: neither. */
  repeats?(failure: RemoteFailure): 'together' | 'alone' | undefined
}

export interface RemoteCallsOptions<R extends RemoteRequest>
  extends Pick<RequestQueueOptions<R>, 'maxCalls' | 'isPrompt' | 'schedule' | 'idle'> {
  readonly transport: Transport<R>
  readonly clock: Clock
  readonly observers: Observers
  /** Most charges of a call with several requests. */
  readonly maxBatch: number
  /** Receives each call, which never rejects. */
  readonly sent?: ((call: Promise<unknown>) => void) | undefined
  /** Queues a request that is sent again. Default: `add`. */
  readonly resend?: ((request: R) => void) | undefined
}

/** Sends requests in calls with a deadline that the server checks, and settles each of them. */
export class RemoteCalls<R extends RemoteRequest = RemoteRequest> {
  readonly queue: RequestQueue<R>
  readonly #options: RemoteCallsOptions<R>

  constructor(options: RemoteCallsOptions<R>) {
    this.#options = options
    const { maxBatch, sent, ...queue } = options
    this.queue = new RequestQueue<R>({
      ...queue,
      maxSize: maxBatch,
      sizeOf: ({ charges }) => charges.length,
      // requests with a short deadline share no call with others: one would wait for or expire with the other
      mayShare: (one, other) => isUrgent(one) === isUrgent(other),
      send: (requests) => {
        const call = this.#send(requests)
        sent?.(call)
        return call
      },
    })
  }

  /** Queues `request`. It is settled with its call, or rejected without a call if its deadline has passed. */
  add(request: R): void {
    this.queue.add(request)
  }

  /**
   * Sends requests once more if their deadline has not passed: the reply contained the correct time of the server, or the
   * call had no effect. Rejects the other requests with `failure`.
   */
  again(requests: readonly R[], failure: RemoteFailure = this.#options.transport.lateFailure()): void {
    const { clock, resend = (request) => this.add(request) } = this.#options
    sendAgain(requests, clock.now(), failure, resend)
  }

  /** Never rejects; resolves with a function that settles the requests. */
  async #send(requests: readonly R[]): Promise<() => void> {
    const { transport, clock } = this.#options
    let wanted = requests
    let isSent = false
    try {
      const prepared = transport.prepare?.(requests)
      if (prepared) await prepared
      wanted = stillWanted(requests, clock.now(), () => transport.lateFailure())
      if (wanted.length === 0) return () => {}
      isSent = true
      const reply = await transport.call(wanted, soonest(wanted))
      return () => (reply.late ? this.again(wanted) : settle(wanted, reply, this.#options.observers))
    } catch (error) {
      const failure = transport.failed(error, wanted)
      const repeats = transport.repeats?.(failure)
      if (isSent && repeats === 'alone' && wanted.length > 1) return this.#sendEach(wanted)
      if (repeats === 'together') return () => this.again(wanted, failure)
      return () => rejectAll(wanted, isSent ? failure : failure.unsent())
    }
  }

  /** Sends each request in a call of its own, because one of them caused an error for all. */
  async #sendEach(requests: readonly R[]): Promise<() => void> {
    const settled: (() => void)[] = []
    for (const request of requests) settled.push(await this.#send([request]))
    return () => {
      for (const one of settled) one()
    }
  }
}

/** Settles requests with a reply, in its order. */
export function settle<R extends RemoteRequest>(
  requests: readonly R[],
  reply: Pick<RemoteReply<R>, 'next'>,
  observers: Observers,
): void {
  for (const request of requests) {
    const answer = reply.next(request, (charge, units) => moved(request.charges[charge], units, observers))
    if (answer instanceof Error) request.reject(answer)
    else request.resolve(answer)
  }
}

function rejectAll(requests: readonly RemoteRequest[], failure: RemoteFailure): void {
  for (const request of requests) request.reject(failure)
}

function moved({ key, counter, cost }: Charge, units: number, observers: Observers): void {
  if (units >= cost) return
  observers.event('lateCharge', { policy: counter.compiled.policy.name, key, units: cost - units })
}
