import type { IncomingMessage, ServerResponse } from 'node:http'
import { type InflightLimitOptions, type RateLimitOptions, type RequestView, warnOnce } from '@sluice/limiter-core'
import type { ConnectHost } from './connect-host.ts'
import { type CreateSluice, createSluiceFor } from './create-sluice.ts'
import { type InflightLimitMiddleware, inflightLimitFor } from './inflight-limit.ts'
import { type RateLimitMiddleware, rateLimitFor } from './rate-limit.ts'
import { soleHeader } from './request-headers.ts'

/** A request of `node:http`, shown to key sources. It has no route; proxies are not trusted. */
class PlainView<Req extends IncomingMessage> implements RequestView<Req> {
  readonly raw: Req
  readonly route: undefined

  constructor(raw: Req) {
    this.raw = raw
  }

  get ip(): string | undefined {
    if (this.raw.headers['x-forwarded-for'] !== undefined) warnUntrustedProxy()
    return this.raw.socket?.remoteAddress
  }

  get method(): string {
    return this.raw.method ?? 'GET'
  }

  header(name: string): string | undefined {
    return soleHeader(this.raw, name)
  }
}

/** Says once that an X-Forwarded-For came though no proxy is trusted: all clients of a proxy would share one key. */
export function warnUntrustedProxy(): void {
  warnOnce(
    'SLUICE_UNTRUSTED_PROXY',
    'X-Forwarded-For came, and no proxy is trusted: behind a proxy all clients share its address as their key',
  )
}

const host: ConnectHost<IncomingMessage> = {
  view: (req) => new PlainView(req),
  options: [],
}

/** Limits rates: `createServer(rateLimit(options).wrap(handler))`, or as `(req, res, next)` middleware. */
export const rateLimit: (
  options: RateLimitOptions<IncomingMessage, ServerResponse>,
) => RateLimitMiddleware<IncomingMessage, ServerResponse> = rateLimitFor(host)

/** Caps requests in progress: `createServer(inflightLimit(options).wrap(handler))`, or as middleware. */
export const inflightLimit: (
  options: InflightLimitOptions<IncomingMessage, ServerResponse>,
) => InflightLimitMiddleware<IncomingMessage, ServerResponse> = inflightLimitFor(host)

/** One place to inject backend, clock and observers from. */
export const createSluice: CreateSluice<IncomingMessage, ServerResponse> = createSluiceFor(host)
