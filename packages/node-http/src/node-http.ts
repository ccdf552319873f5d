import type { IncomingMessage, ServerResponse } from 'node:http'
import { warnOnce } from '@sluice/limiter-core'
import { type ConnectMiddleware, connectMount } from './connect.ts'
import { Exchange } from './exchange.ts'
import { type Limiters, limitersFor } from './limiters.ts'

/** A request of `node:http`. It has no route; proxies are not trusted. */
class PlainExchange extends Exchange<IncomingMessage, ServerResponse> {
  get ip(): string | undefined {
    if (this.incoming.headers['x-forwarded-for'] !== undefined) warnUntrustedProxy()
    return this.peer
  }

  get route(): undefined {
    return undefined
  }
}

/** Says once that an X-Forwarded-For came though no proxy is trusted: all clients of a proxy would share one key. */
export function warnUntrustedProxy(): void {
  warnOnce(
    'SLUICE_UNTRUSTED_PROXY',
    'X-Forwarded-For came, and no proxy is trusted: behind a proxy all clients share its address as their key',
  )
}

/** Says once that any client can choose the address by which it is counted; `setting` is what allows it. */
export function warnTrustsAnyone(setting: string): void {
  warnOnce(
    'SLUICE_TRUSTS_ANYONE',
    `${setting}: any client can name its own address in X-Forwarded-For, and so its own key`,
  )
}

type Middleware = ConnectMiddleware<IncomingMessage, ServerResponse>
type NodeLimiters = Limiters<IncomingMessage, ServerResponse, Middleware>

const limiters: NodeLimiters = limitersFor(connectMount((req, res) => new PlainExchange(req, res, req, res)))

/** Limits rates: `createServer(rateLimit(options).wrap(handler))`, or as `(req, res, next)` middleware. */
export const rateLimit: NodeLimiters['rateLimit'] = limiters.rateLimit

/** Caps requests in progress: `createServer(inflightLimit(options).wrap(handler))`, or as middleware. */
export const inflightLimit: NodeLimiters['inflightLimit'] = limiters.inflightLimit

/** Delays requests of who asks too often: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: NodeLimiters['slowDown'] = limiters.slowDown

/** One place to inject backend, clock and observers from. */
export const createSluice: NodeLimiters['createSluice'] = limiters.createSluice
