import {
  type ClientExplanation,
  type ConnectMiddleware,
  connectMount,
  type DecoratedLimiters,
  type ExplainClientOptions,
  explainSource,
  type HttpLimit,
  type InflightLimitOptions,
  limitersFor,
  type Next,
  nodeSource,
  type RateLimitOptions,
  type RequestSluice,
  rejectUncalled,
  withDecorators,
} from '@sluice/node-http/adapter'
import type { Application, Request, Response } from 'express'
import { ExpressExchange } from './express-exchange.ts'

declare global {
  namespace Express {
    interface Request {
      /** The decisions of the request, and methods to change what it was charged. Set by the first limiter. */
      sluice?: RequestSluice
    }
  }
}

/** Additional options of Express limiters. */
export interface ExpressOptions {
  /**
   * Whether to pass denials to the error handlers of Express, as errors with `status`, `headers` and
   * `code: 'SLUICE_DENIED'`. Default: false.
   */
  readonly next?: boolean | undefined
}

/** An Express request. Unlike `Request`, it is named without the packages that Express's own types import. */
export interface ExpressRequest extends Request {}

/** An Express response. */
export interface ExpressResponse extends Response {}

export type ExpressRateLimitOptions = RateLimitOptions<ExpressRequest, ExpressResponse> & ExpressOptions
export type ExpressInflightLimitOptions = InflightLimitOptions<ExpressRequest, ExpressResponse> & ExpressOptions

type Args = readonly [req: ExpressRequest, res: ExpressResponse, next: Next]
type ExpressLimiters = DecoratedLimiters<Args, ExpressRequest, ExpressResponse, ExpressMiddleware, ExpressOptions>

/** An Express request or response of any type. */
interface OfExpress {
  readonly app: Application
}

/**
 * Express middleware that can also be put in front of a single handler. Its signature does not contain the type of the
 * request, so that Express can infer the route parameters of the handlers behind it.
 */
export interface ExpressMiddleware extends Pick<ConnectMiddleware<ExpressRequest, ExpressResponse>, 'wrap'> {
  (req: OfExpress, res: OfExpress, next: Next): void
}

const mount = connectMount<ExpressRequest, ExpressResponse>(ExpressExchange, true)
const limiters: ExpressLimiters = rejectUncalled(
  withDecorators(
    limitersFor(mount as (limit: HttpLimit<ExpressRequest, ExpressResponse>) => ExpressMiddleware, ['next']),
  ),
  { method: 'app.use', properties: ['handle'] },
)

/** Limits request rates: `app.use(rateLimit({ limit: 100, window: '1m' }))`. Default key: the client address. */
export const rateLimit: ExpressLimiters['rateLimit'] = limiters.rateLimit

/** Caps concurrent requests: `app.use(inflightLimit({ limit: 200 }))`, in the whole process unless `key` is set. */
export const inflightLimit: ExpressLimiters['inflightLimit'] = limiters.inflightLimit

/** Delays frequent requests of a client: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: ExpressLimiters['slowDown'] = limiters.slowDown

/** Refuses requests while the process is overloaded, least important first: `shed({ priority })`. Mount it first. */
export const shed: ExpressLimiters['shed'] = limiters.shed

/** Creates limiter functions that share a backend, a clock and observers. */
export const createSluice: ExpressLimiters['createSluice'] = limiters.createSluice

/** Decorator that limits the request rate of a method: `@RateLimit({ limit: 100, window: '1m' })`. */
export const RateLimit: ExpressLimiters['RateLimit'] = limiters.RateLimit

/** Decorator that caps the concurrent requests of a method: `@InflightLimit({ limit: 4 })`. */
export const InflightLimit: ExpressLimiters['InflightLimit'] = limiters.InflightLimit

/**
 * Decorator that delays frequent requests of a client to a method:
 * `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`.
 */
export const SlowDown: ExpressLimiters['SlowDown'] = limiters.SlowDown

/** Decorator that refuses requests to a method while the process is overloaded: `@Shed({ priority })`. */
export const Shed: ExpressLimiters['Shed'] = limiters.Shed

/**
 * Explains which client address counts for a request, and why, in words. Pass the option `trust` of the limiter in
 * question, if it has one. Throws `SLUICE_BAD_OPTION`.
 */
export function explainClient(request: ExpressRequest, options?: ExplainClientOptions): ClientExplanation {
  return explainSource(nodeSource(request, request.ip), options, "app.set('trust proxy')")
}
