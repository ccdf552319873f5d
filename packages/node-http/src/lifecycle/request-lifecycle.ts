import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { onCarrierClose, RequestLife, type RequestSluice } from '@sluice/http'
import { systemClock } from '@sluice/limiter-core/http'
import onFinished from 'on-finished'
import { guardHead } from './guarded-head.ts'
import {
  type Carrier,
  carrierOf,
  connectionOf,
  hasConnection,
  isComplete,
  isGone,
  isReadable,
  isServerResponse,
  onAbandoned,
  watchStream,
} from './response-end.ts'
import { ResponseEvents } from './response-events.ts'
import { unreadConnections } from './unread-connections.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The decisions of the request, and methods to change what it was charged. Set by the first limiter. */
    sluice?: RequestSluice
  }
}

/**
 * Lifecycle of one response, from its first limiter to its end. No single event reports the end of every response:
 * `finish` misses responses that are not sent, `close` misses clients that left before there was a listener and pipelined
 * responses that never got their turn, and a stalled HTTP/2 stream emits nothing. Together they miss no end; the first one
 * counts. on-finished, which a test compares them with, reports the end of a response that is not one of Node's.
 */
export class RequestLifecycle extends RequestLife {
  /** Read once, because V8 before version 12 takes up to 1 µs to read a property of an Express request. */
  readonly isHttp2: boolean
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  #startedAt = 0
  #listening = false
  #isGuarded = false
  #connection: Carrier | undefined
  #forgetCarrier: (() => void) | undefined

  /** Returns the lifecycle of a response. The first call creates it and assigns it to `req.sluice`. */
  static of(req: IncomingMessage, res: ServerResponse): RequestLifecycle {
    const known = req.sluice as RequestLifecycle | undefined
    // not `instanceof`: two versions of this package may be loaded in one process
    if (typeof known?.settleAtEnd === 'function') return known
    const made = new RequestLifecycle(req, res)
    if (made.isHttp2) watchStream(res)
    Object.assign(req, { sluice: made })
    return made
  }

  private constructor(req: IncomingMessage, res: ServerResponse) {
    super()
    this.isHttp2 = req.httpVersionMajor >= 2
    this.#req = req
    this.#res = res
  }

  override get gone(): boolean {
    return this.ended || isGone(this.#res, this.#carrierNow, this.isHttp2)
  }

  /** A connection is read once; a stream leaves its response when it has closed. */
  get #carrierNow(): Carrier | undefined {
    if (this.#connection) return this.#connection
    const carrier = carrierOf(this.#req, this.#res, this.isHttp2)
    if (!this.isHttp2) this.#connection = carrier
    return carrier
  }

  protected override keepFields(): void {
    if (this.#isGuarded) return
    this.#isGuarded = true
    guardHead(this.#res, this, this.isHttp2)
  }

  protected override listen(isPresent = false): boolean {
    if (this.#listening) return !this.ended
    this.#listening = true
    this.#startedAt = systemClock.now()
    const end = (): void => this.#end()
    const carrier = this.#carrierNow
    const over = !isPresent && isGone(this.#res, carrier, this.isHttp2)
    const connection = over ? undefined : connectionOf(this.#res, carrier)
    if (connection) this.#listenTo(connection, end)
    else this.#listenToAll(carrier, end)
    // a client that has already left causes no further event; the microtask lets the caller finish first
    if (over) Promise.resolve().then(end)
    return !over
  }

  /** Listens to a response of HTTP/1 whose turn on its connection has come: it is sent, or the connection closes. */
  #listenTo(connection: Socket, end: () => void): void {
    unreadConnections.add(this.#req)
    this.#forgetCarrier = onCarrierClose(connection, end)
    this.#res.on('finish', end)
    // nothing can be sent on a connection that this server has ended, and its client may never close it
    if (!connection.writable) Promise.resolve().then(end)
  }

  /** Listens to any other response. */
  #listenToAll(carrier: Carrier | undefined, end: () => void): void {
    this.#res.prependListener('close', end)
    const forget = onAbandoned(this.#res, carrier, end)
    // an HTTP/2 stream carries only this response, and closes at its end even if the client resets it: what `forget`
    // cancels must still run. Its writable side does not show the end, because Node ends it at the start of a HEAD request
    if (this.isHttp2) return
    this.#forgetCarrier = forget
    if (carrier && isReadable(carrier)) unreadConnections.add(this.#req)
    if (isServerResponse(this.#res) || !hasConnection(this.#res)) this.#res.on('finish', end)
    else onFinished(asMessage(new ResponseEvents(this.#res)), end)
  }

  #end(): void {
    if (this.ended) return
    this.#forgetCarrier?.()
    unreadConnections.delete(this.#req)
    const completed = isComplete(this.#res, this.isHttp2)
    this.endAs({ completed, durationMs: systemClock.now() - this.#startedAt, status: this.#res.statusCode })
  }
}

/** on-finished declares a parameter of the type of a whole message, and uses the parts that this class has. */
function asMessage(events: ResponseEvents): ServerResponse {
  return events as object as ServerResponse
}
