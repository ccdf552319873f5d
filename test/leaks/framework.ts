import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type {
  ConnectMiddleware,
  InflightHandle,
  InflightLimitOptions,
  RateHandle,
  RateLimitOptions,
} from '@sluice/node-http'

export type Handler = (req: IncomingMessage, res: ServerResponse) => unknown
export type Step = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => unknown) => unknown

type Middleware = ConnectMiddleware<IncomingMessage, ServerResponse>

/** What the leak tests need of a framework: its limiters, and a listener of steps that run one after the other. */
export interface Framework {
  readonly inflightLimit: (
    options: InflightLimitOptions<IncomingMessage, ServerResponse>,
  ) => Middleware & InflightHandle
  readonly rateLimit: (options: RateLimitOptions<IncomingMessage, ServerResponse>) => Middleware & RateHandle
  listener(...steps: readonly Step[]): RequestListener
}
