import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { RequestLife, type RequestSluice } from '@sluice/http'
import { systemClock } from '@sluice/limiter-core/http'
import onFinished from 'on-finished'
import { guardHead } from './guarded-head.ts'
import { connectionOf, hasConnection, isComplete, isGone, onAbandoned, watchStream } from './response-end.ts'
import { ConnectedResponseEvents, ResponseEvents } from './response-events.ts'
import { unreadConnections } from './unread-connections.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The decisions of the request, and methods to change what it was charged. Set by the first limiter. */
    sluice?: RequestSluice
  }
}

/**
 * Lifecycle of one response, from its first limiter to its end. No single event reports the end of every response:
 * on-finished misses pipelined responses that never got their turn, and takes a HEAD request over HTTP/2 for finished at
 * its start; `close` misses clients that left before there was a listener, and a stalled HTTP/2 stream emits nothing. Together these signals miss no end; the first one counts.
 */
export class RequestLifecycle extends RequestLife {
  /** Read once, because V8 before version 12 takes up to 1 µs to read a property of an Express request. */
  readonly isHttp2: boolean
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  #startedAt = 0
  #listening = false
  #isGuarded = false
  #forgetCarrier: (() => void) | undefined

  /** Returns the lifecycle of a response. The first call creates it and assigns it to `req.sluice`. */
  static of(req: IncomingMessage, res: ServerResponse): RequestLifecycle {
    const known = req.sluice as RequestLifecycle | undefined
    // not `instanceof`: two versions of this package may be loaded in one process
    if (typeof known?.settleAtEnd === 'function') return known
    const made = new RequestLifecycle(req, res)
    if (made.isHttp2) watchStream(res)
    req.sluice = made
    return made
  }

  private constructor(req: IncomingMessage, res: ServerResponse) {
    super()
    this.isHttp2 = req.httpVersionMajor >= 2
    this.#req = req
    this.#res = res
  }

  override get gone(): boolean {
    return this.ended || isGone(this.#req, this.#res)
  }

  protected override keepFields(): void {
    if (this.#isGuarded) return
    this.#isGuarded = true
    guardHead(this.#res, this)
  }

  protected override listen(isPresent = false): boolean {
    if (this.#listening) return !this.ended
    this.#listening = true
    this.#startedAt = systemClock.now()
    const end = (): void => this.#end()
    const connection = connectionOf(this.#req, this.#res)
    const over = !isPresent && isGone(this.#req, this.#res)
    if (connection && !over) this.#listenTo(connection, end)
    else this.#listenToAll(end)
    // a client that has already left causes no further event; the microtask lets the caller finish first
    if (over) Promise.resolve().then(end)
    return !over
  }

  /** Listens to a response of HTTP/1 whose turn on its connection has come. */
  #listenTo(connection: Socket, end: () => void): void {
    unreadConnections.add(this.#req)
    onFinished(asMessage(new ConnectedResponseEvents(this.#res, connection)), end)
  }

  /** Listens to any other response. */
  #listenToAll(end: () => void): void {
    this.#res.prependListener('close', end)
    this.#forgetCarrier = onAbandoned(this.#req, this.#res, end)
    // each HTTP/2 response has a stream, which closes at its end. The writable side does not show the end, because Node
    // ends it at the start of a HEAD request
    if (this.isHttp2) return
    if (hasConnection(this.#res)) onFinished(asMessage(new ResponseEvents(this.#res)), end)
    else this.#res.on('finish', end)
  }

  #end(): void {
    if (this.ended) return
    this.#forgetCarrier?.()
    unreadConnections.delete(this.#req)
    const completed = isComplete(this.#req, this.#res)
    this.endAs({ completed, durationMs: systemClock.now() - this.#startedAt, status: this.#res.statusCode })
  }
}

/** on-finished declares a parameter of the type of a whole message, and uses the parts that these classes have. */
function asMessage(events: object): ServerResponse {
  return events as ServerResponse
}
