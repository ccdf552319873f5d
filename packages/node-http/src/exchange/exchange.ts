import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type HttpExchange, isUnixSocket } from '@sluice/http'
import type { HeaderLine, HttpDenial } from '@sluice/limiter-core/http'
import { RequestLifecycle } from '../lifecycle/request-lifecycle.ts'
import { abortResponse } from '../lifecycle/response-end.ts'

/** An unread upload of at most this size is read and dropped, so that the connection can be reused. */
const SMALL_BODY_BYTES = 64 * 1024

/**
 * A request and its response as limiters read and write them, independent of the framework. `Req` and `Res` are the
 * types of the framework; `incoming` and `outgoing` are the underlying `node:http` objects.
 */
export abstract class Exchange<Req, Res> implements HttpExchange<Req, Res> {
  readonly raw: Req
  readonly res: Res
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly life: RequestLifecycle
  #headers: IncomingHttpHeaders | undefined

  constructor(raw: Req, res: Res, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.raw = raw
    this.res = res
    this.incoming = incoming
    this.outgoing = outgoing
    // sets `req.sluice` in any case, so that handlers can use it for requests that are not counted
    this.life = RequestLifecycle.of(incoming, outgoing)
  }

  /** The headers of the request. Read once, because each read of a property of an Express request takes 1 µs. */
  get headers(): IncomingHttpHeaders {
    this.#headers ??= this.incoming.headers ?? {}
    return this.#headers
  }

  abstract get ip(): string | undefined
  abstract get route(): string | undefined

  get knowsRoutes(): boolean {
    return false
  }

  get routeMethod(): string | undefined {
    return undefined
  }

  get peer(): string | undefined {
    return this.incoming.socket?.remoteAddress
  }

  get link(): 'unix' | undefined {
    return isUnixSocket(this.incoming.socket) ? 'unix' : undefined
  }

  get method(): string {
    return this.incoming.method ?? 'GET'
  }

  // returns undefined for a repeated header: Node joins the values, so that one client could have many keys, such as
  // `valid, junk1` and `valid, junk2`
  header(name: string): string | undefined {
    const value = this.headers[name]
    if (typeof value !== 'string') return undefined
    const { rawHeaders } = this.incoming
    // a request of a test
    if (!rawHeaders) return value
    let times = 0
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const raw = rawHeaders[index]
      if (raw.length === name.length && raw.toLowerCase() === name) times++
    }
    return times === 1 ? value : undefined
  }

  headerText(name: string): string | undefined {
    // only `set-cookie` is an array
    return this.headers[name] as string | undefined
  }

  // tests of applications use event emitters and other objects as responses, without some of the methods below

  get isAnswered(): boolean {
    // an HTTP/1 response that has ended has sent its headers
    return this.outgoing.headersSent || (this.life.isHttp2 && this.outgoing.writableEnded)
  }

  get hasEnded(): boolean {
    return this.outgoing.writableEnded
  }

  get headerNames(): readonly string[] {
    return this.outgoing.getHeaderNames?.() ?? []
  }

  getHeader(name: string): unknown {
    return this.outgoing.getHeader?.(name)
  }

  setHeader(name: string, value: string): void {
    this.outgoing.setHeader?.(name, value)
  }

  setLines(lines: readonly HeaderLine[]): boolean {
    try {
      for (const [name, value] of lines) this.setHeader(name, value)
      return true
    } catch (error) {
      // Node throws if the head has been sent, which need not be asked of every response first
      if (this.isAnswered) return false
      throw error
    }
  }

  removeHeader(name: string): void {
    if (this.outgoing.hasHeader?.(name)) this.outgoing.removeHeader(name)
  }

  setStatus(status: number): void {
    this.outgoing.statusCode = status
    // Node derives the message from the status that is finally sent
    if (!this.life.isHttp2) this.outgoing.statusMessage = ''
  }

  undoStatus(status: number): void {
    if (this.outgoing.statusCode === status) this.setStatus(200)
  }

  // reading a large upload first would delay the response, and keeping the connection open would require reading it
  refuseBody(): void {
    if (!this.life.isHttp2 && hasLargeBody(this.incoming)) this.setHeader('Connection', 'close')
  }

  send(denial: HttpDenial): void {
    this.setHeader('Content-Type', denial.contentType)
    this.setHeader('Content-Length', String(Buffer.byteLength(denial.body)))
    this.outgoing.end?.(denial.body)
  }

  sendReturned(_returned: unknown): void {}

  abort(): boolean {
    if (!this.outgoing.headersSent || this.outgoing.writableEnded) return false
    abortResponse(this.incoming, this.outgoing)
    return true
  }

  get cutOff(): (lastEvent: string) => void {
    return (lastEvent) => this.#cutOff(lastEvent)
  }

  #cutOff(lastEvent: string): void {
    const { outgoing } = this
    if (!outgoing.headersSent || outgoing.writableEnded) return
    if (!isEventStream(outgoing)) {
      this.abort()
      return
    }
    outgoing.end(lastEvent)
    // the handler may still write: HTTP/1 then emits an error, and HTTP/2 destroys the stream with the event
    outgoing.on('error', () => {})
    if (this.life.isHttp2) outgoing.write = dropWrite
  }
}

/** Whether the response has the type of server-sent events. Its head must have been sent. */
function isEventStream(res: ServerResponse & { readonly _header?: string }): boolean {
  const type = res.getHeader('content-type')
  // Node keeps no headers of a response whose handler has passed all of them to `writeHead`
  if (type === undefined) return /^content-type: *text\/event-stream/im.test(res._header ?? '')
  return /^text\/event-stream/i.test(String(type))
}

/** Stands in for `write` of a response that has ended. */
function dropWrite(...args: readonly unknown[]): boolean {
  const done = args.at(-1)
  if (typeof done === 'function') process.nextTick(done, new Error('the response has ended'))
  return false
}

function hasLargeBody(req: IncomingMessage): boolean {
  if (req.complete) return false
  if (req.headers['transfer-encoding'] !== undefined) return true
  return Number(req.headers['content-length'] ?? 0) > SMALL_BODY_BYTES
}
