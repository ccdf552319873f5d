import { afterThisTurn, TurnBatch } from '@sluice/limiter-core/backend'
import type { ScriptRequest } from './script-request.ts'

/**
 * Batches requests into script calls. If nothing is pending, a request is sent at once; otherwise it waits until the
 * current turn of the event loop has been handled, and is sent with what arrived meanwhile.
 */
export class ScriptQueue {
  readonly #send: (requests: readonly ScriptRequest[]) => Promise<() => void>
  readonly #maxKeys: number
  readonly #idle: () => void
  // of the first that waits: in a cluster most queues end with the call that they began with
  #waiting: TurnBatch<ScriptRequest> | undefined
  #underWay = 0

  /**
   * `send` never rejects, and resolves with a function that settles the requests. A call has at most `maxKeys` keys,
   * or one request. `idle` is called when nothing is left to do.
   */
  constructor(maxKeys: number, send: (requests: readonly ScriptRequest[]) => Promise<() => void>, idle: () => void) {
    this.#maxKeys = maxKeys
    this.#send = send
    this.#idle = idle
  }

  add(request: ScriptRequest): void {
    if (this.isIdle) {
      this.#call([request])
      return
    }
    this.#waiting ??= new TurnBatch((waiting) => this.#callAll(waiting.take()))
    this.#waiting.add(request)
  }

  get isIdle(): boolean {
    return this.#underWay === 0 && !this.#waiting?.size
  }

  /** A call outside of the queue has started; it lasts until `ended`. */
  began(): void {
    this.#underWay++
  }

  readonly ended = (): void => {
    this.#underWay--
    if (this.isIdle) this.#idle()
  }

  #callAll(requests: readonly ScriptRequest[]): void {
    let from = 0
    let keys = 0
    for (const [at, request] of requests.entries()) {
      // an urgent request neither waits for nor ends another one
      const apart = at > from && isUrgent(request) !== isUrgent(requests[from])
      if (at > from && (apart || keys + request.names.length > this.#maxKeys)) {
        this.#call(requests.slice(from, at))
        from = at
        keys = 0
      }
      keys += request.names.length
    }
    this.#call(requests.slice(from))
  }

  #call(requests: readonly ScriptRequest[]): void {
    this.began()
    this.#send(requests).then((settle) => {
      // callers of a batch are likely to send the next requests together, so it is worth waiting for them
      if (requests.length > 1) afterThisTurn(this.ended)
      else this.ended()
      settle()
    })
  }
}

/** Whether a caller waits for it, at most until its deadline. The deadline of an adjustment is far away. */
function isUrgent({ operation, deadlineAt }: ScriptRequest): boolean {
  return deadlineAt !== undefined && operation !== 'adjust'
}
