import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpDenial, RequestSluice } from '@sluice/limiter-core'
import { Exchange } from './exchange.ts'
import { type FastifyTrust, warnAboutFastifyTrust } from './proxy-trust.ts'
import { type RoutedRequest, routeConfigOf, routePattern } from './route-config.ts'
import { routeMethod } from './route-method.ts'

/** A request of Fastify, by what is asked of it. */
interface ReplyRequest extends RoutedRequest {
  readonly raw: IncomingMessage
  readonly ip: string
  readonly server: FastifyTrust
  sluice?: RequestSluice | undefined
}

/** A reply of Fastify, by what is asked of it. */
interface Reply {
  readonly raw: object
  readonly sent: boolean
  getHeader(name: string): unknown
  getHeaders(): object
  header(name: string, value: string): unknown
  removeHeader(name: string): unknown
  code(status: number): unknown
  serializer(write: (payload: unknown) => string): unknown
  send(payload: unknown): unknown
}

/**
 * A request of Fastify, be it Fastify's own or Nest's on Fastify, which know no type of each other. Proxies are trusted
 * as `trustProxy` says.
 */
export class ReplyExchange<Req extends ReplyRequest, Res extends Reply> extends Exchange<Req, Res> {
  constructor(request: Req, reply: Res) {
    super(request, reply, request.raw, reply.raw as ServerResponse)
    request.sluice = this.life
  }

  get ip(): string | undefined {
    if (this.incoming.headers['x-forwarded-for'] !== undefined) warnAboutFastifyTrust(this.raw.server)
    return this.raw.ip
  }

  /** Known from the first hook on; undefined where no route matched. */
  get route(): string | undefined {
    return routePattern(routeConfigOf(this.raw).url)
  }

  override get routeMethod(): string {
    return routeMethod([routeConfigOf(this.raw).method ?? []].flat())
  }

  override get answered(): boolean {
    return this.res.sent || super.answered
  }

  override get headerNames(): readonly string[] {
    return Object.keys(this.res.getHeaders())
  }

  override getHeader(name: string): unknown {
    return this.res.getHeader(name)
  }

  // kept by Fastify until it writes the head of the answer, which costs less than setting it there
  override setHeader(name: string, value: string): void {
    this.res.header(name, value)
  }

  // other middleware writes to the response beneath, which the reply does not forget with its own
  override removeHeader(name: string): void {
    this.res.removeHeader(name)
    super.removeHeader(name)
  }

  override setStatus(status: number): void {
    super.setStatus(status)
    this.res.code(status)
  }

  // Fastify adds a charset to the type of text that it serializes itself; bytes would be sent behind the head, not with it
  override send(denial: HttpDenial): void {
    this.setHeader('Content-Type', denial.contentType)
    this.res.serializer(String)
    this.res.send(denial.body)
  }

  /** As of handlers: a value is the answer, and the reply itself says that one is on its way. */
  override conclude(returned: unknown): void {
    if (returned !== undefined && returned !== this.res && !this.answered) this.res.send(returned)
  }
}
