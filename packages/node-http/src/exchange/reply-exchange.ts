import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestSluice } from '@sluice/http'
import { routeMethod } from '@sluice/http'
import type { HeaderLine, HttpDenial } from '@sluice/limiter-core/http'
import { Exchange } from './exchange.ts'
import { type FastifyTrust, warnAboutFastifyTrust } from './proxy-trust.ts'
import { type RoutedRequest, routeConfigOf, routePattern } from './route-config.ts'

/** The parts of a Fastify request that the exchange uses. */
interface ReplyRequest extends RoutedRequest {
  readonly raw: IncomingMessage
  readonly ip: string
  readonly server: FastifyTrust
  sluice?: RequestSluice | undefined
}

/** The parts of a Fastify reply that the exchange uses. */
interface Reply {
  readonly raw: object
  readonly sent: boolean
  getHeader(name: string): unknown
  getHeaders(): object
  header(name: string, value: string): unknown
  removeHeader(name: string): unknown
  serializer(write: (payload: unknown) => string): unknown
  send(payload: unknown): unknown
}

/**
 * A request of Fastify, or of Nest on Fastify, whose types are unrelated. Fastify's `trustProxy` decides which proxies
 * are trusted.
 */
export class ReplyExchange<Req extends ReplyRequest, Res extends Reply> extends Exchange<Req, Res> {
  constructor(request: Req, reply: Res) {
    super(request, reply, request.raw, reply.raw as ServerResponse)
    request.sluice = this.life
  }

  get ip(): string | undefined {
    if (this.headers['x-forwarded-for'] !== undefined) warnAboutFastifyTrust(this.raw.server)
    return this.raw.ip
  }

  /** Available from the first hook on; undefined if no route matched. */
  get route(): string | undefined {
    return routePattern(routeConfigOf(this.raw).url)
  }

  override get knowsRoutes(): boolean {
    return true
  }

  override get routeMethod(): string {
    return routeMethod([routeConfigOf(this.raw).method ?? []].flat())
  }

  override get isAnswered(): boolean {
    return this.res.sent || super.isAnswered
  }

  override get headerNames(): readonly string[] {
    return Object.keys(this.res.getHeaders())
  }

  override getHeader(name: string): unknown {
    return this.res.getHeader(name)
  }

  // the reply keeps headers until the head is written, which costs less than setting them on the raw response
  override setHeader(name: string, value: string): void {
    this.res.header(name, value)
  }

  override setLines(lines: readonly HeaderLine[]): boolean {
    return !this.isAnswered && super.setLines(lines)
  }

  // other middleware may have set the header on the raw response, from which the reply does not remove it
  override removeHeader(name: string): void {
    this.res.removeHeader(name)
    super.removeHeader(name)
  }

  // Fastify adds a charset to the type of strings that it serializes itself, and sends bytes apart from the head
  override send(denial: HttpDenial): void {
    this.setHeader('Content-Type', denial.contentType)
    this.res.serializer(String)
    this.res.send(denial.body)
  }

  /** Sends a returned value, as for handlers. A returned reply means that the function sends the response itself. */
  override sendReturned(returned: unknown): void {
    if (returned !== undefined && returned !== this.res && !this.isAnswered) this.res.send(returned)
  }
}
