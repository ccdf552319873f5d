import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { HttpDenial, RequestView } from '@sluice/limiter-core'
import { RequestLifecycle } from '../lifecycle/request-lifecycle.ts'

/**
 * A request and its response as limiters read and write them, independent of the framework. `Req` and `Res` are the
 * types of the framework; `incoming` and `outgoing` are the underlying `node:http` objects.
 */
export abstract class Exchange<Req, Res> implements RequestView<Req> {
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
    this.#headers ??= this.incoming.headers
    return this.#headers
  }

  abstract get ip(): string | undefined
  abstract get route(): string | undefined

  get routeMethod(): string | undefined {
    return undefined
  }

  get peer(): string | undefined {
    return this.incoming.socket?.remoteAddress
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
    let times = 0
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const raw = rawHeaders[index]
      if (raw.length === name.length && raw.toLowerCase() === name) times++
    }
    return times === 1 ? value : undefined
  }

  /** Whether the response has been sent or started, so that nothing can be added to it. */
  get isAnswered(): boolean {
    // an HTTP/1 response that has ended has sent its headers
    return this.outgoing.headersSent || (this.incoming.httpVersionMajor >= 2 && this.outgoing.writableEnded)
  }

  /** Names of the headers set so far, in lower case. */
  get headerNames(): readonly string[] {
    return this.outgoing.getHeaderNames()
  }

  getHeader(name: string): unknown {
    return this.outgoing.getHeader(name)
  }

  setHeader(name: string, value: string): void {
    this.outgoing.setHeader(name, value)
  }

  removeHeader(name: string): void {
    if (this.outgoing.hasHeader(name)) this.outgoing.removeHeader(name)
  }

  setStatus(status: number): void {
    this.outgoing.statusCode = status
    // Node derives the message from the status that is finally sent
    if (this.incoming.httpVersionMajor < 2) this.outgoing.statusMessage = ''
  }

  /** Sends the default body of a denial, after status and headers have been set. */
  send(denial: HttpDenial): void {
    this.setHeader('Content-Type', denial.contentType)
    this.setHeader('Content-Length', String(denial.body.length))
    this.outgoing.end(denial.body)
  }

  /** Receives the return value of a custom `denied` function, for frameworks that send returned values. */
  sendReturned(_returned: unknown): void {}
}
