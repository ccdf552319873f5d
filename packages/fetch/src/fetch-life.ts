import { RequestLife, systemClock, weakly, whenCollected } from '@sluice/http'
import { type FetchInfo, waitUntilOf } from './client-address.ts'
import { type EndingHost, endingHostOf, type HostEnd } from './host-end.ts'
import { type TrackedBody, trackedResponse } from './tracked-body.ts'

/** What lives as long as the owner of a request. */
const ownedBy = new WeakMap<object, readonly unknown[]>()

/**
 * Lifecycle of a request with a Web-standard response. It ends when the host reports that the response was sent or that
 * the client has left, and except on connections of Node.js, when the body of the response has been read. Hosts other
 * than Node.js and Deno report no end: there it also ends when the body was cancelled, has failed or was
 * garbage-collected, so that nothing can read it.
 *
 * Once it waits for the end, it holds no strong reference to its owner or to the body, which can therefore be collected
 * together.
 */
export class FetchLife extends RequestLife {
  /** Whether an inner limit denied the request: then its headers are final. */
  isDenied = false
  /** Number of limits whose work has not ended. */
  depth = 0
  /** Whether the body of the response may have to end early. */
  mayCutOff = false
  readonly #request: Request
  #owner: () => object | undefined
  /** Returns what the host passes beside the request; undefined once it is known. */
  #infos: (() => readonly unknown[]) | undefined
  #knownHost: EndingHost | undefined
  #waitUntil: FetchInfo['waitUntil']
  #startedAt = 0
  #listening = false
  #status: number | undefined
  /** The body of the response that is sent, as far as known. */
  #body: (() => TrackedBody | undefined) | undefined
  /** Number of responses so far. Only the last one is sent. */
  #responses = 0
  #isReplaceable = false
  #forget: (() => void) | undefined
  #done: (() => void) | undefined

  /**
   * Returns the lifecycle that an outer limit has made, or a new one. `owner` is the request or an object with the same
   * lifetime; the caller keeps `known` with it. `infos` returns what the host passes beside the request, and is called
   * only if something depends on the end of the response.
   */
  static of(known: unknown, owner: object, request: Request, infos: () => readonly unknown[]): FetchLife {
    const outer = known as Partial<FetchLife> | undefined
    // a request whose response has been returned is a new one if it is passed in again, as tests do
    if (outer?.depth) return outer as FetchLife
    return new FetchLife(owner, request, infos)
  }

  private constructor(owner: object, request: Request, infos: () => readonly unknown[]) {
    super()
    this.#request = request
    this.#owner = () => owner
    this.#infos = infos
  }

  override get gone(): boolean {
    return this.ended || (this.#host?.reportsLeaving ? this.#host.isOver : this.#request.signal.aborted)
  }

  /**
   * Whether the end depends on the response that is sent. If true, the adapter has to call `follow` with each response
   * that replaces the present one.
   */
  followReplacements(): boolean {
    this.#isReplaceable = this.#listening && !this.ended && !this.#host
    return this.#isReplaceable
  }

  /** Called when a limit runs the work behind it. */
  enter(): void {
    this.depth++
  }

  /** Called with the response of that work. The outermost limit returns a response whose body reports its end. */
  leave(response: Response): Response {
    // throws if it is not a response: then the work has failed
    const sent = this.depth === 1 ? this.follow(response) : response
    this.depth--
    return sent
  }

  /** Takes a response for the one that is sent, and returns it with a body that reports its end. */
  follow(response: Response): Response {
    if (!this.#listening || this.ended) return response
    if (this.#host?.reportsLeaving && !this.mayCutOff) {
      this.#status = response.status
      return response
    }
    const number = ++this.#responses
    this.#status = response.status
    const ended = (completed: boolean): void => this.#bodyEnded(number, completed)
    const { response: sent, body } = trackedResponse(response, this.#request.method, ended, this.#owner())
    this.#body = body && weakly(body)
    if (body && sent.body && !this.#host) whenCollected(sent.body, () => ended(false))
    return sent
  }

  /** Ends the body of the response. Does nothing before the outermost limit has returned the response. */
  cutOff(lastEvent: string): void {
    this.#body?.()?.cutOff(lastEvent)
  }

  /** Called with the response to a denied request. Without an outer limit, which watches it, the request has ended. */
  refuse(response: Response): Response {
    this.isDenied = true
    this.#status = response.status
    if (this.depth === 0 && this.#listening) this.#end(true)
    return response
  }

  /** Called if that work threw. */
  fail(): void {
    if (--this.depth === 0 && this.#listening) this.#end(false)
  }

  // the body, whose end calls the hooks, keeps the owner alive; a reply refers to the body of an inner response, whose
  // source may refer to the owner
  protected override reference(target: unknown): () => unknown {
    const owner = this.#owner()
    if (owner && owner !== target) ownedBy.set(owner, [...(ownedBy.get(owner) ?? []), target])
    return weakly(target as object)
  }

  protected override listen(): boolean {
    if (this.#listening) return !this.ended
    this.#listening = true
    this.#startedAt = systemClock.now()
    const isOver = this.gone
    this.#waitUntil?.(new Promise<void>((resolve) => (this.#done = resolve)))
    const owner = this.#owner()
    if (owner) this.#owner = weakly(owner)
    const forgetHost = this.#host?.listen(this.#hostListener(owner))
    const abort = (): void => this.#end(false)
    // servers of Node.js create a signal when it is read
    const signal = this.#host?.reportsLeaving ? undefined : this.#request.signal
    signal?.addEventListener('abort', abort, { once: true })
    this.#forget = () => {
      signal?.removeEventListener('abort', abort)
      forgetHost?.()
    }
    // a client that has already left causes no further event; the microtask lets the caller finish first
    if (isOver) Promise.resolve().then(abort)
    return !isOver
  }

  get #host(): EndingHost | undefined {
    const infos = this.#infos?.()
    if (infos) {
      // it may refer to the owner
      this.#infos = undefined
      this.#knownHost = endingHostOf(infos)
      this.#waitUntil = waitUntilOf(infos)
    }
    return this.#knownHost
  }

  /** The listener keeps the owner alive, which the hooks at the end receive. */
  #hostListener(owner: object | undefined): HostEnd {
    return (completed, status = this.#status) => {
      this.#status = status
      this.#end(completed, owner)
    }
  }

  /** Only a complete body ends a response whose host reports its end: middleware may drop a body and send another one. */
  #bodyEnded(number: number, completed: boolean): void {
    if (number !== this.#responses) return
    if (completed || !(this.#host || this.#isReplaceable)) this.#end(completed)
    // middleware that has cancelled the body sets another response at once
    else if (!this.#host) systemClock.after(0, this.#unlessReplaced(number, this.#owner()))
  }

  #unlessReplaced(number: number, owner: object | undefined): () => void {
    return () => number === this.#responses && this.#end(false, owner)
  }

  #end(completed: boolean, _owner?: object): void {
    if (this.ended) return
    this.#forget?.()
    this.#body = undefined
    this.endAs({ completed, durationMs: systemClock.now() - this.#startedAt, status: this.#status })
    if (this.#done) this.settled.then(this.#done)
  }
}
