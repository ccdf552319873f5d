import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  Exchange,
  expressMethod,
  expressPattern,
  ReplyExchange,
  warnAboutExpressTrust,
} from '@sluice/node-http/adapter'

/** A request of whichever platform Nest runs on: Express's or Fastify's own. */
// biome-ignore lint/suspicious/noExplicitAny: the two platforms have no type in common, and neither is imported
export type PlatformRequest = any
/** A response of whichever platform: Express's response or Fastify's reply. */
// biome-ignore lint/suspicious/noExplicitAny: the two platforms have no type in common, and neither is imported
export type PlatformResponse = any

/** A request that Nest handles; the life behind it ends with the response, or with the handler where there is none. */
export type NestExchange = Exchange<PlatformRequest, PlatformResponse>

/** The exchange of a request over HTTP. The platform is known by what it has, so that neither is imported. */
export function httpExchange(req: PlatformRequest, res: PlatformResponse): NestExchange {
  return res.raw ? new ReplyExchange(req, res) : new ExpressResponseExchange(req, res)
}

/** Proxies are trusted as `app.set('trust proxy', …)` says. */
class ExpressResponseExchange extends Exchange<PlatformRequest, PlatformResponse> {
  constructor(req: IncomingMessage, res: ServerResponse) {
    super(req, res, req, res)
  }

  get ip(): string | undefined {
    if (this.incoming.headers['x-forwarded-for'] !== undefined)
      warnAboutExpressTrust(this.raw.app?.get?.('trust proxy'))
    return this.raw.ip
  }

  get route(): string | undefined {
    return expressPattern(this.raw)
  }

  override get routeMethod(): string {
    return expressMethod(this.raw)
  }
}
