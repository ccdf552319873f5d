import { RequestLife, systemClock } from '@sluice/http'
import { type TrackedResponse, trackedResponse } from './tracked-body.ts'

const lives = new WeakMap<object, FetchLife>()

/**
 * Lifecycle of a request with a Web-standard response. It ends when the body of the response has been read, was
 * cancelled or has failed, or when the client has left (`request.signal`).
 */
export class FetchLife extends RequestLife {
  /** Whether an inner limit denied the request: then its headers are final. */
  isDenied = false
  readonly #request: Request
  readonly #waitUntil: ((work: Promise<unknown>) => void) | undefined
  #startedAt = 0
  #listening = false
  #depth = 0
  #status: number | undefined
  #tracked: TrackedResponse | undefined
  #forget: (() => void) | undefined
  #done: (() => void) | undefined

  /** Returns the lifecycle that belongs to `owner`, which is the request or an object with the same lifetime. */
  static of(owner: object, request: Request, waitUntil?: (work: Promise<unknown>) => void): FetchLife {
    const known = lives.get(owner)
    // a request whose response has been returned is a new one if it is passed in again, as tests do
    if (known && known.#depth > 0) return known
    const made = new FetchLife(request, waitUntil)
    lives.set(owner, made)
    return made
  }

  static find(owner: object): FetchLife | undefined {
    return lives.get(owner)
  }

  private constructor(request: Request, waitUntil?: (work: Promise<unknown>) => void) {
    super()
    this.#request = request
    this.#waitUntil = waitUntil
  }

  override get gone(): boolean {
    return this.ended || this.#request.signal.aborted
  }

  /** Called when a limit runs the work behind it. */
  enter(): void {
    this.#depth++
  }

  /** Called with the response of that work. The outermost limit returns a response whose body reports its end. */
  leave(response: Response): Response {
    const isWatched = this.#depth === 1 && this.#listening && !this.ended
    if (isWatched) this.#status = response.status
    // throws if it is not a response: then the work has failed
    if (isWatched) {
      this.#tracked = trackedResponse(response, this.#request.method, (completed) => this.#end(completed))
    }
    this.#depth--
    return isWatched && this.#tracked ? this.#tracked.response : response
  }

  /** Ends the body of the response. Does nothing before the outermost limit has returned the response. */
  cutOff(lastEvent: string): void {
    this.#tracked?.cutOff(lastEvent)
  }

  /** Called with the response to a denied request. Without an outer limit, which watches it, the request has ended. */
  refuse(response: Response): Response {
    this.isDenied = true
    this.#status = response.status
    if (this.#depth === 0 && this.#listening) this.#end(true)
    return response
  }

  /** Called if that work threw. */
  fail(): void {
    if (--this.#depth === 0 && this.#listening) this.#end(false)
  }

  protected override listen(): boolean {
    if (this.#listening) return !this.ended
    this.#listening = true
    this.#startedAt = systemClock.now()
    this.#waitUntil?.(new Promise<void>((resolve) => (this.#done = resolve)))
    const { signal } = this.#request
    const abort = (): void => this.#end(false)
    signal.addEventListener('abort', abort, { once: true })
    this.#forget = () => signal.removeEventListener('abort', abort)
    // a client that has already left causes no further event; the microtask lets the caller finish first
    if (signal.aborted) Promise.resolve().then(abort)
    return !signal.aborted
  }

  #end(completed: boolean): void {
    if (this.ended) return
    this.#forget?.()
    this.#tracked = undefined
    this.endAs({ completed, durationMs: systemClock.now() - this.#startedAt, status: this.#status })
    this.settled.then(() => this.#done?.())
  }
}
