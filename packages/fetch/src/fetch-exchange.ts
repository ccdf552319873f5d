import type { HeaderLine, HttpDenial, HttpExchange } from '@sluice/http'
import type { HostPeer } from './client-address.ts'
import type { FetchLife } from './fetch-life.ts'
import { type FetchReply, LimitReply } from './limit-reply.ts'
import { withHeaders } from './response-headers.ts'

/** The origin of a request and its route, as the adapter determined them. */
export interface RequestOrigin {
  readonly life: FetchLife
  readonly peer: HostPeer
  readonly route?: string | undefined
  readonly routeMethod?: string | undefined
}

/** A Web-standard request, and the response that limits build for it or add headers to. */
export class FetchExchange<Req = Request> implements HttpExchange<Req, FetchReply> {
  readonly raw: Req
  readonly res: LimitReply = new LimitReply()
  readonly life: FetchLife
  /** The response to a denied request. */
  denied: Response | undefined
  readonly #request: Request
  readonly #origin: RequestOrigin

  constructor(raw: Req, request: Request, origin: RequestOrigin) {
    this.raw = raw
    this.life = origin.life
    this.#request = request
    this.#origin = origin
  }

  get ip(): string | undefined {
    return this.#origin.peer.peer
  }

  // the runtime provides a single address, before any header has been read
  get peer(): string | undefined {
    return this.#origin.peer.peer
  }

  get link(): HostPeer['link'] {
    return this.#origin.peer.link
  }

  get route(): string | undefined {
    return this.#origin.route
  }

  get knowsRoutes(): boolean {
    return false
  }

  get routeMethod(): string | undefined {
    return this.#origin.routeMethod
  }

  get method(): string {
    return this.#request.method
  }

  get headers(): { readonly origin: string | undefined } {
    return { origin: this.header('origin') }
  }

  // the values of a repeated header are joined, and the application sees the same text
  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  headerText(name: string): string | undefined {
    return this.header(name)
  }

  get isAnswered(): boolean {
    return this.denied !== undefined
  }

  get hasEnded(): boolean {
    return this.isAnswered
  }

  get headerNames(): readonly string[] {
    return this.res.lines.map(([name]) => name.toLowerCase())
  }

  getHeader(name: string): unknown {
    return this.res.get(name)
  }

  setHeader(name: string, value: string): void {
    this.res.set(name, value)
  }

  setLines(lines: readonly HeaderLine[]): boolean {
    if (this.isAnswered) return false
    for (const [name, value] of lines) this.setHeader(name, value)
    return true
  }

  removeHeader(name: string): void {
    this.res.delete(name)
  }

  setStatus(status: number): void {
    this.res.status = status
  }

  send({ contentType, body }: HttpDenial): void {
    this.setHeader('Content-Type', contentType)
    const isHead = this.method === 'HEAD'
    // otherwise the server adds the length of the body
    if (isHead) this.setHeader('Content-Length', String(new TextEncoder().encode(body).length))
    this.denied = this.respond(isHead ? null : body)
  }

  protected respond(body: string | null): Response {
    const { status, lines } = this.res
    return new Response(body, { status, headers: lines as [string, string][] })
  }

  /** Called before functions of the application answer a denial. Removes headers of the regular response from the context. */
  discardPrepared(): void {}

  /** A `denied` hook returns the response. If it returns nothing, the default response is sent. */
  sendReturned(returned: unknown): void {
    if (returned instanceof Response) this.denied = withHeaders(returned, this.res.lines)
  }

  // without a reference to the exchange, and so to the context of a framework
  get cutOff(): (lastEvent: string) => void {
    const { life } = this
    life.mayCutOff = true
    return (lastEvent) => life.cutOff(lastEvent)
  }

  /** Adds the headers of this limit to a response of the application, or of an inner limit. */
  finish(response: Response): Response {
    this.res.response ??= response
    const { life, res } = this
    return life.leave(life.isDenied ? response : withHeaders(response, res.lines, life.shownLines))
  }
}
