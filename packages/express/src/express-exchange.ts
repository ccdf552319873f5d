import { Exchange, expressMethod, expressPattern, warnAboutExpressTrust } from '@sluice/node-http/adapter'
import type { Request, Response } from 'express'

/** An Express request. `app.set('trust proxy', …)` decides which proxies are trusted. */
export class ExpressExchange extends Exchange<Request, Response> {
  get ip(): string | undefined {
    if (this.headers['x-forwarded-for'] !== undefined) warnAboutExpressTrust(this.raw.app.get('trust proxy'))
    return this.raw.ip
  }

  /** Available in middleware of a route and in handlers; undefined in application-level middleware. */
  get route(): string | undefined {
    return expressPattern(this.raw)
  }

  override get routeMethod(): string {
    return expressMethod(this.raw)
  }
}
