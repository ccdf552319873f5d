// index.d.ts
import {
	DecoratedLimiters,
	RequestSluice,
	Next,
	ConnectMiddleware,
	InflightLimitOptions,
	RateLimitOptions,
	ExplainClientOptions,
	ClientExplanation
} from '@sluice/node-http/adapter'
import { Request, Response, Application } from 'express'

declare const createSluice: ExpressLimiters['createSluice']

type ExpressLimiters = DecoratedLimiters<Args, ExpressRequest, ExpressResponse, ExpressMiddleware, ExpressOptions>

type Args = readonly [req: ExpressRequest, res: ExpressResponse, next: Next]

interface ExpressRequest extends Request {}

interface ExpressResponse extends Response {}

interface ExpressMiddleware extends Pick<ConnectMiddleware<ExpressRequest, ExpressResponse>, 'wrap'> {
	(req: OfExpress, res: OfExpress, next: Next): void
}

interface OfExpress {
	readonly app: Application
}

interface ExpressOptions {
	readonly next?: boolean | undefined
}

type ExpressInflightLimitOptions = InflightLimitOptions<ExpressRequest, ExpressResponse> & ExpressOptions

type ExpressRateLimitOptions = RateLimitOptions<ExpressRequest, ExpressResponse> & ExpressOptions

declare function explainClient(request: ExpressRequest, options?: ExplainClientOptions): ClientExplanation

declare const InflightLimit: ExpressLimiters['InflightLimit']

declare const inflightLimit: ExpressLimiters['inflightLimit']

declare const RateLimit: ExpressLimiters['RateLimit']

declare const rateLimit: ExpressLimiters['rateLimit']

declare const Shed: ExpressLimiters['Shed']

declare const SlowDown: ExpressLimiters['SlowDown']

declare const shed: ExpressLimiters['shed']

declare const slowDown: ExpressLimiters['slowDown']

declare global {
	namespace Express {
		interface Request {
			sluice?: RequestSluice
		}
	}
}
export {
	createSluice,
	type ExpressInflightLimitOptions,
	type ExpressMiddleware,
	type ExpressOptions,
	type ExpressRateLimitOptions,
	type ExpressRequest,
	type ExpressResponse,
	explainClient,
	InflightLimit,
	inflightLimit,
	RateLimit,
	rateLimit,
	Shed,
	SlowDown,
	shed,
	slowDown
}
export * from '@sluice/node-http/shared'
