import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type {
  ConnectMiddleware,
  InflightHandle,
  InflightLimitOptions,
  RateHandle,
  RateLimitOptions,
  SlowDownHandle,
  SlowDownOptions,
} from '@sluice/node-http'

export type Handler = (req: IncomingMessage, res: ServerResponse) => unknown
export type Step = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => unknown) => unknown

type Middleware = ConnectMiddleware<IncomingMessage, ServerResponse>

/** A framework as used by the leak tests: its limiters, and a listener built from steps that run in order. */
export interface Framework {
  readonly inflightLimit: (
    options: InflightLimitOptions<IncomingMessage, ServerResponse>,
  ) => Middleware & InflightHandle
  readonly rateLimit: (options: RateLimitOptions<IncomingMessage, ServerResponse>) => Middleware & RateHandle
  readonly slowDown: (options: SlowDownOptions<IncomingMessage, ServerResponse>) => Middleware & SlowDownHandle
  listener(...steps: readonly Step[]): RequestListener
}
