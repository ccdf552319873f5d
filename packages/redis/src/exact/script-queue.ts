import { afterThisTurn, TurnBatch } from '@sluice/limiter-core/backend'
import type { ScriptRequest } from './script-request.ts'

/**
 * Gathers requests for one script call. With nothing under way a request goes out at once; else it waits until everything
 * that this turn of the event loop brought has been handled, and goes with what came meanwhile.
 */
export class ScriptQueue {
  readonly #send: (requests: readonly ScriptRequest[]) => Promise<() => void>
  readonly #maxKeys: number
  readonly #idle: () => void
  // of the first that waits: in a cluster most queues end with the call that they began with
  #waiting: TurnBatch<ScriptRequest> | undefined
  #underWay = 0

  /** `send` never rejects, and answers how to settle the requests. A call has at most `maxKeys` keys, or one request. `idle` hears that nothing is left to do. */
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

  /** A call is made beside the queue, until it is `ended`. */
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
      // an urgent request never waits for another one, nor ends it
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
      // whoever asks on after many were answered at once is not alone, and is worth to wait for
      if (requests.length > 1) afterThisTurn(this.ended)
      else this.ended()
      settle()
    })
  }
}

/** Whether somebody waits for it, and no longer than until its deadline. That of an adjustment is far away. */
function isUrgent({ operation, deadlineAt }: ScriptRequest): boolean {
  return deadlineAt !== undefined && operation !== 'adjust'
}
