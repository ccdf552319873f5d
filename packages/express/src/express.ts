import {
  type ConnectMiddleware,
  connectMount,
  type DecoratedLimiters,
  type HttpLimit,
  type InflightLimitOptions,
  limitersFor,
  mustBeCalled,
  type Next,
  type RateLimitOptions,
  type RequestSluice,
  withDecorators,
} from '@sluice/node-http/adapter'
import type { Application, Request, Response } from 'express'
import { ExpressExchange } from './express-exchange.ts'

declare global {
  namespace Express {
    interface Request {
      /** What Sluice knows of the request; present behind a limiter. */
      sluice?: RequestSluice
    }
  }
}

/** Options that limiters of Express have besides the others. */
export interface ExpressOptions {
  /** Hands denials to Express as errors with `status`, `headers` and `code: 'SLUICE_DENIED'`. */
  readonly next?: boolean
}

export type ExpressRateLimitOptions = RateLimitOptions<Request, Response> & ExpressOptions
export type ExpressInflightLimitOptions = InflightLimitOptions<Request, Response> & ExpressOptions

type Args = readonly [req: Request, res: Response, next: Next]
type ExpressLimiters = DecoratedLimiters<Args, Request, Response, ExpressMiddleware, ExpressOptions>

/** A request or a response, whatever their types are. */
interface OfExpress {
  readonly app: Application
}

/** Middleware, or around a single handler. It names no request, so that handlers behind it know their route's parameters. */
export interface ExpressMiddleware extends Pick<ConnectMiddleware<Request, Response>, 'wrap'> {
  (req: OfExpress, res: OfExpress, next: Next): void
}

const mount = connectMount<Request, Response>(ExpressExchange)
const limiters: ExpressLimiters = mustBeCalled(
  withDecorators(limitersFor(mount as (limit: HttpLimit<Request, Response>) => ExpressMiddleware, ['next'])),
  'handle',
)

/** Limits rates: `app.use(rateLimit({ limit: 100, window: '1m' }))`, by client address unless `key` says otherwise. */
export const rateLimit: ExpressLimiters['rateLimit'] = limiters.rateLimit

/** Caps requests in progress: `app.use(inflightLimit({ limit: 200 }))`, of the whole process unless `key` is given. */
export const inflightLimit: ExpressLimiters['inflightLimit'] = limiters.inflightLimit

/** Delays requests of who asks too often: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: ExpressLimiters['slowDown'] = limiters.slowDown

/** One place to inject backend, clock and observers from. */
export const createSluice: ExpressLimiters['createSluice'] = limiters.createSluice

/** Limits rates in front of a method: `@RateLimit({ limit: 100, window: '1m' })`. */
export const RateLimit: ExpressLimiters['RateLimit'] = limiters.RateLimit

/** Caps requests that a method has in progress: `@InflightLimit({ limit: 4 })`. */
export const InflightLimit: ExpressLimiters['InflightLimit'] = limiters.InflightLimit

/** Delays who asks a method too often: `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const SlowDown: ExpressLimiters['SlowDown'] = limiters.SlowDown
