import { Exchange, warnAboutExpressTrust } from '@sluice/node-http'
import type { Request, Response } from 'express'

/** A request of Express. Proxies are trusted as `app.set('trust proxy', …)` says. */
export class ExpressExchange extends Exchange<Request, Response> {
  get ip(): string | undefined {
    if (this.raw.headers['x-forwarded-for'] !== undefined) warnAboutExpressTrust(this.raw.app.get('trust proxy'))
    return this.raw.ip
  }

  /** Known in route-level middleware and later. Spellings of the mount path that Express takes for one are one here. */
  get route(): string | undefined {
    const path: unknown = this.raw.route?.path
    return path === undefined ? undefined : `${mountPath(this.raw.baseUrl)}${String(path)}`
  }
}

// `baseUrl` is what the client wrote: /API, /%61pi and /api are one mount
function mountPath(baseUrl: string): string {
  try {
    return decodeURIComponent(baseUrl).toLowerCase()
  } catch {
    return baseUrl.toLowerCase()
  }
}
