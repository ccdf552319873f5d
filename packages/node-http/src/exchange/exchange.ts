import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpDenial, RequestView } from '@sluice/limiter-core'
import { RequestLifecycle } from '../lifecycle/request-lifecycle.ts'

/**
 * A request as limiters see it and its response as they write it, whatever the framework is. `Req` and `Res` are what
 * the framework's users know; beneath them are a request and a response of node:http.
 */
export abstract class Exchange<Req, Res> implements RequestView<Req> {
  readonly raw: Req
  readonly res: Res
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly life: RequestLifecycle

  constructor(raw: Req, res: Res, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.raw = raw
    this.res = res
    this.incoming = incoming
    this.outgoing = outgoing
    // first of all: a handler that speaks to its `sluice` must not fail for requests that nobody counts
    this.life = RequestLifecycle.of(incoming, outgoing)
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

  // Node joins repeated headers: `valid, junk1` and `valid, junk2` would be two keys of one client
  header(name: string): string | undefined {
    const { headers, rawHeaders } = this.incoming
    const value = headers[name]
    if (typeof value !== 'string') return undefined
    let times = 0
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const raw = rawHeaders[index]
      if (raw.length === name.length && raw.toLowerCase() === name) times++
    }
    return times === 1 ? value : undefined
  }

  /** True once an answer is under way, so that nothing can be added to it. */
  get answered(): boolean {
    return this.outgoing.headersSent || this.outgoing.writableEnded
  }

  /** Of the headers that were set so far, in lower case. */
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
    // left to Node, which knows the status that is sent in the end
    if (this.incoming.httpVersionMajor < 2) this.outgoing.statusMessage = ''
  }

  /** Writes the body of the usual answer; status and headers stand. */
  send(denial: HttpDenial): void {
    this.setHeader('Content-Type', denial.contentType)
    this.setHeader('Content-Length', String(denial.body.length))
    this.outgoing.end(denial.body)
  }

  /** Told what the user's own answer returned, where that is the answer itself. */
  conclude(_returned: unknown): void {}
}
