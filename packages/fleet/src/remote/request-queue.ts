import { afterThisTurn } from '@sluice/limiter-core/backend'
import { TurnBatch } from '../backend/turn-batch.ts'

export interface RequestQueueOptions<R> {
  /** Must never reject. Resolves with a function that settles the requests. */
  readonly send: (requests: readonly R[]) => Promise<() => void>
  /** Returns the part of a call that a request fills. Default: 0. */
  readonly sizeOf?: ((request: R) => number) | undefined
  /** Largest sum of the sizes of a call with several requests. Default: no limit. */
  readonly maxSize?: number | undefined
  /** Whether two requests may share a call. Default: all may. */
  readonly mayShare?: ((one: R, other: R) => boolean) | undefined
  /** Most calls under way. Further requests wait and share the next call. Default: no limit. */
  readonly maxCalls?: number | undefined
  /** Whether a request is sent at once if no call is under way. Default: false. */
  readonly isPrompt?: boolean | undefined
  /** Schedules a call of the requests of a turn. Default: at the end of the turn of the event loop. */
  readonly schedule?: ((send: () => void) => void) | undefined
  /** Called when no request is waiting or under way. */
  readonly idle?: (() => void) | undefined
}

/** Combines the requests of one turn of the event loop into calls. */
export class RequestQueue<R> {
  readonly #options: RequestQueueOptions<R>
  // created when a request has to wait: in a cluster most queues only ever have one call
  #turn: TurnBatch<R> | undefined
  #waiting: readonly R[] = []
  #underWay = 0

  constructor(options: RequestQueueOptions<R>) {
    this.#options = options
  }

  add(request: R): void {
    const { isPrompt, schedule } = this.#options
    if (isPrompt && this.isIdle) {
      this.#call([request])
      return
    }
    this.#turn ??= new TurnBatch(() => this.#callAll())
    this.#turn.add(request, schedule)
  }

  /** Whether no request is waiting or under way. */
  get isIdle(): boolean {
    return this.#underWay === 0 && this.#waiting.length === 0 && !this.#turn?.size
  }

  /** Records the start of a call that does not go through the queue. It is under way until `ended` is called. */
  began(): void {
    this.#underWay++
  }

  readonly ended = (): void => {
    this.#underWay--
    if (this.#waiting.length > 0) this.#turn?.schedule(this.#options.schedule)
    else if (this.isIdle) this.#options.idle?.()
  }

  #callAll(): void {
    const { maxCalls = Number.POSITIVE_INFINITY } = this.#options
    const added = this.#turn?.take() ?? []
    // most turns have no requests that wait
    const requests = this.#waiting.length > 0 ? this.#waiting.concat(added) : added
    let from = 0
    while (from < requests.length && this.#underWay < maxCalls) {
      const end = this.#endOfCall(requests, from)
      this.#call(from === 0 && end === requests.length ? requests : requests.slice(from, end))
      from = end
    }
    this.#waiting = from === 0 ? requests : requests.slice(from)
  }

  /** Returns the index after the last request of the call that begins at `from`. */
  #endOfCall(requests: readonly R[], from: number): number {
    const { maxSize = Number.POSITIVE_INFINITY, sizeOf = none, mayShare = always } = this.#options
    const first = requests[from]
    let size = sizeOf(first)
    let end = from + 1
    for (; end < requests.length; end++) {
      size += sizeOf(requests[end])
      if (size > maxSize || !mayShare(first, requests[end])) break
    }
    return end
  }

  #call(requests: readonly R[]): void {
    this.began()
    this.#options.send(requests).then((settle) => {
      // callers whose requests are settled together tend to send their next requests together, so wait for all of them
      if (requests.length > 1 && this.#options.isPrompt) afterThisTurn(this.ended)
      else this.ended()
      settle()
    })
  }
}

function none(): number {
  return 0
}

function always(): boolean {
  return true
}
