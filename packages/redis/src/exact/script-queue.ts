import { isUrgent, TurnBatch } from '@sluice/fleet/backend'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import type { ScriptRequest } from './script-request.ts'

/**
 * Combines requests into script calls. If no call is pending, a request is sent at once. Otherwise it is sent at the
 * end of the current turn of the event loop, together with the other requests of the turn.
 */
export class ScriptQueue {
  readonly #perTask: boolean
  readonly #send: (requests: readonly ScriptRequest[]) => Promise<() => void>
  readonly #maxKeys: number
  readonly #idle: () => void
  // created when a request has to wait: in a cluster most queues only ever have one call
  #waiting: TurnBatch<ScriptRequest> | undefined
  #pending = 0

  /**
   * `send` must never reject, and resolves with a function that settles the requests. A call contains at most `maxKeys`
   * keys or a single request. `idle` is called when no request is waiting or pending. `perTask`: see `ScriptRunner`.
   */
  constructor(
    maxKeys: number,
    send: (requests: readonly ScriptRequest[]) => Promise<() => void>,
    idle: () => void,
    perTask = false,
  ) {
    this.#perTask = perTask
    this.#maxKeys = maxKeys
    this.#send = send
    this.#idle = idle
  }

  add(request: ScriptRequest): void {
    if (this.isIdle && !this.#perTask) {
      this.#call([request])
      return
    }
    this.#waiting ??= new TurnBatch((waiting) => this.#callAll(waiting.take()))
    this.#waiting.add(request, this.#perTask ? queueMicrotask : undefined)
  }

  /** Whether a request would be sent at once. */
  get isIdle(): boolean {
    return this.#pending === 0 && !this.#waiting?.size
  }

  /** Records the start of a call that does not go through the queue. It is pending until `ended` is called. */
  began(): void {
    this.#pending++
  }

  readonly ended = (): void => {
    this.#pending--
    if (this.isIdle) this.#idle()
  }

  #callAll(requests: readonly ScriptRequest[]): void {
    let from = 0
    let keys = 0
    for (const [at, request] of requests.entries()) {
      // requests with a short deadline share no call with others: one would wait for or expire with the other
      const isSeparate = at > from && isUrgent(request) !== isUrgent(requests[from])
      if (at > from && (isSeparate || keys + request.names.length > this.#maxKeys)) {
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
      // callers whose requests are settled together tend to send their next requests together, so wait for all of them
      if (requests.length > 1) afterThisTurn(this.ended)
      else this.ended()
      settle()
    })
  }
}
