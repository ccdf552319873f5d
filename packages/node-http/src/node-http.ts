import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ConnectMiddleware, connectMount } from './connect/connect.ts'
import type { Next } from './connect/next.ts'
import { type DecoratedLimiters, withDecorators } from './decorators/decorators.ts'
import { Exchange } from './exchange/exchange.ts'
import { warnUntrustedProxy } from './exchange/proxy-trust.ts'
import { limitersFor } from './limits/limiters.ts'

/** A request of `node:http`. It has no route; proxies are not trusted. */
export class PlainExchange extends Exchange<IncomingMessage, ServerResponse> {
  get ip(): string | undefined {
    if (this.incoming.headers['x-forwarded-for'] !== undefined) warnUntrustedProxy()
    return this.peer
  }

  get route(): undefined {
    return undefined
  }
}

type Middleware = ConnectMiddleware<IncomingMessage, ServerResponse>
type Args = readonly [req: IncomingMessage, res: ServerResponse, next: Next]
type NodeLimiters = DecoratedLimiters<Args, IncomingMessage, ServerResponse, Middleware>

const limiters: NodeLimiters = withDecorators(limitersFor(connectMount(PlainExchange)))

/** Limits rates: `createServer(rateLimit(options).wrap(handler))`, or as `(req, res, next)` middleware. */
export const rateLimit: NodeLimiters['rateLimit'] = limiters.rateLimit

/** Caps requests in progress: `createServer(inflightLimit(options).wrap(handler))`, or as middleware. */
export const inflightLimit: NodeLimiters['inflightLimit'] = limiters.inflightLimit

/** Delays requests of who asks too often: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: NodeLimiters['slowDown'] = limiters.slowDown

/** One place to inject backend, clock and observers from. */
export const createSluice: NodeLimiters['createSluice'] = limiters.createSluice

/** Limits rates in front of a method: `@RateLimit({ limit: 100, window: '1m' })`. */
export const RateLimit: NodeLimiters['RateLimit'] = limiters.RateLimit

/** Caps requests that a method has in progress: `@InflightLimit({ limit: 4 })`. */
export const InflightLimit: NodeLimiters['InflightLimit'] = limiters.InflightLimit

/** Delays who asks a method too often: `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const SlowDown: NodeLimiters['SlowDown'] = limiters.SlowDown
