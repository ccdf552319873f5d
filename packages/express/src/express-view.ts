import { type RequestView, soleHeader, warnOnce, warnUntrustedProxy } from '@sluice/node-http'
import type { Request } from 'express'

/** An Express request, shown to key sources. Proxies are trusted as `app.set('trust proxy', …)` says. */
export class ExpressView implements RequestView<Request> {
  readonly raw: Request

  constructor(raw: Request) {
    this.raw = raw
  }

  get ip(): string | undefined {
    if (this.raw.headers['x-forwarded-for'] !== undefined) warnAboutTrust(this.raw.app.get('trust proxy'))
    return this.raw.ip
  }

  get peer(): string | undefined {
    return this.raw.socket?.remoteAddress
  }

  get method(): string {
    return this.raw.method
  }

  /** Known in route-level middleware and later. Spellings of the mount path that Express takes for one are one here. */
  get route(): string | undefined {
    const path: unknown = this.raw.route?.path
    return path === undefined ? undefined : `${mountPath(this.raw.baseUrl)}${String(path)}`
  }

  header(name: string): string | undefined {
    return soleHeader(this.raw, name)
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

const TRUSTS_ANYONE =
  "'trust proxy' is true: any client can name its own address in X-Forwarded-For, and so its own key"

function warnAboutTrust(trust: unknown): void {
  if (!trust) warnUntrustedProxy()
  if (trust === true) warnOnce('SLUICE_TRUSTS_ANYONE', TRUSTS_ANYONE)
}
