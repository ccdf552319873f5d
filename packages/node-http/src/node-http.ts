import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ClientExplanation, type ExplainClientOptions, explainSource, limitersFor } from '@sluice/http'
import { type ConnectMiddleware, connectMount } from './connect/connect.ts'
import type { Next } from './connect/next.ts'
import { type DecoratedLimiters, withDecorators } from './decorators/decorators.ts'
import { Exchange } from './exchange/exchange.ts'
import { nodeSource } from './exchange/node-source.ts'
import { warnUntrustedProxy } from './exchange/proxy-trust.ts'

/** A `node:http` request. It has no route, and no proxy is trusted. */
export class PlainExchange extends Exchange<IncomingMessage, ServerResponse> {
  get ip(): string | undefined {
    if (this.headers['x-forwarded-for'] !== undefined) warnUntrustedProxy()
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

/** Limits request rates: `createServer(rateLimit(options).wrap(handler))`, or as `(req, res, next)` middleware. */
export const rateLimit: NodeLimiters['rateLimit'] = limiters.rateLimit

/** Caps concurrent requests: `createServer(inflightLimit(options).wrap(handler))`, or as middleware. */
export const inflightLimit: NodeLimiters['inflightLimit'] = limiters.inflightLimit

/** Delays frequent requests of a client: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: NodeLimiters['slowDown'] = limiters.slowDown

/** Refuses requests while the process is overloaded, least important first: `shed({ priority })`. Mount it first. */
export const shed: NodeLimiters['shed'] = limiters.shed

/** Creates limiter functions that share a backend, a clock and observers. */
export const createSluice: NodeLimiters['createSluice'] = limiters.createSluice

/** Decorator that limits the request rate of a method: `@RateLimit({ limit: 100, window: '1m' })`. */
export const RateLimit: NodeLimiters['RateLimit'] = limiters.RateLimit

/** Decorator that caps the concurrent requests of a method: `@InflightLimit({ limit: 4 })`. */
export const InflightLimit: NodeLimiters['InflightLimit'] = limiters.InflightLimit

/**
 * Decorator that delays frequent requests of a client to a method:
 * `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`.
 */
export const SlowDown: NodeLimiters['SlowDown'] = limiters.SlowDown

/** Decorator that refuses requests to a method while the process is overloaded: `@Shed({ priority })`. */
export const Shed: NodeLimiters['Shed'] = limiters.Shed

/**
 * Explains which client address counts for a request, and why, in words. Pass the option `trust` of the limiter in
 * question, if it has one. Throws `SLUICE_BAD_OPTION`.
 */
export function explainClient(request: IncomingMessage, options?: ExplainClientOptions): ClientExplanation {
  return explainSource(nodeSource(request, request.socket?.remoteAddress), options)
}
