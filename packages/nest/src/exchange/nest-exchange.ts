import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  Exchange,
  expressMethod,
  expressPattern,
  ReplyExchange,
  warnAboutExpressTrust,
} from '@sluice/node-http/adapter'

/** Request of the platform on which Nest runs: Express's or Fastify's. */
// biome-ignore lint/suspicious/noExplicitAny: the two platforms have no type in common, and neither is imported
export type PlatformRequest = any
/** Response of the platform on which Nest runs: Express's response or Fastify's reply. */
// biome-ignore lint/suspicious/noExplicitAny: the two platforms have no type in common, and neither is imported
export type PlatformResponse = any

/** A request or call that Nest handles. Its lifecycle ends with the response, or for a call with the handler. */
export type NestExchange = Exchange<PlatformRequest, PlatformResponse>

/** Returns the exchange of an HTTP request. Detects the platform by its objects, so that neither has to be imported. */
export function httpExchange(req: PlatformRequest, res: PlatformResponse): NestExchange {
  return res.raw ? new ReplyExchange(req, res) : new ExpressResponseExchange(req, res)
}

/** A request of platform-express. `app.set('trust proxy', …)` decides which proxies are trusted. */
class ExpressResponseExchange extends Exchange<PlatformRequest, PlatformResponse> {
  constructor(req: IncomingMessage, res: ServerResponse) {
    super(req, res, req, res)
  }

  get ip(): string | undefined {
    if (this.headers['x-forwarded-for'] !== undefined) warnAboutExpressTrust(this.raw.app?.get?.('trust proxy'))
    return this.raw.ip
  }

  get route(): string | undefined {
    return expressPattern(this.raw)
  }

  override get routeMethod(): string {
    return expressMethod(this.raw)
  }
}
