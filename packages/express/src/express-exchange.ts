import { Exchange, expressMethod, expressPattern, warnAboutExpressTrust } from '@sluice/node-http/adapter'
import type { Request, Response } from 'express'

/** A request of Express. Proxies are trusted as `app.set('trust proxy', …)` says. */
export class ExpressExchange extends Exchange<Request, Response> {
  get ip(): string | undefined {
    if (this.raw.headers['x-forwarded-for'] !== undefined) warnAboutExpressTrust(this.raw.app.get('trust proxy'))
    return this.raw.ip
  }

  /** Known in route-level middleware and later. */
  get route(): string | undefined {
    return expressPattern(this.raw)
  }

  override get routeMethod(): string {
    return expressMethod(this.raw)
  }
}
