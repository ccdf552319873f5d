import {
  type ConnectHost,
  type CreateSluice,
  createSluiceFor,
  type InflightLimitMiddleware,
  type InflightLimitOptions,
  inflightLimitFor,
  type RateLimitMiddleware,
  type RateLimitOptions,
  type RequestSluice,
  rateLimitFor,
} from '@sluice/node-http'
import type { Request, Response } from 'express'
import { ExpressView } from './express-view.ts'

declare global {
  namespace Express {
    interface Request {
      /** What Sluice knows of the request; present behind a limiter. */
      sluice?: RequestSluice
    }
  }
}

interface ExpressOptions {
  /** Hands denials to Express as errors with `status`, `headers` and `code: 'SLUICE_DENIED'`. */
  readonly next?: boolean
}

export type ExpressRateLimitOptions = RateLimitOptions<Request, Response> & ExpressOptions
export type ExpressInflightLimitOptions = InflightLimitOptions<Request, Response> & ExpressOptions

const host: ConnectHost<Request> = {
  view: (req) => new ExpressView(req),
  options: ['next'],
}

/** Limits rates: `app.use(rateLimit({ limit: 100, window: '1m' }))`, by client address unless `key` says otherwise. */
export const rateLimit: (options: ExpressRateLimitOptions) => RateLimitMiddleware<Request, Response> =
  rateLimitFor(host)

/** Caps requests in progress: `app.use(inflightLimit({ limit: 200 }))`, of the whole process unless `key` is given. */
export const inflightLimit: (options: ExpressInflightLimitOptions) => InflightLimitMiddleware<Request, Response> =
  inflightLimitFor(host)

/** One place to inject backend, clock and observers from. */
export const createSluice: CreateSluice<Request, Response, ExpressOptions> = createSluiceFor(host)
