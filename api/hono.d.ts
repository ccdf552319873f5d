// index.d.ts
import {
	Limiters,
	RequestSluice,
	ExplainClientOptions,
	ClientExplanation,
	InflightLimitOptions,
	RateLimitOptions
} from '@sluice/http'
import { Context, Next } from 'hono'
import { FetchReply as FetchReply$1 } from '@sluice/fetch/adapter'

declare const createSluice: HonoLimiters['createSluice']

type HonoLimiters = Limiters<Context, FetchReply$1, HonoMiddleware, HonoOptions>

type HonoMiddleware = (c: Pick<Context, 'res'>, next: Next) => Promise<Response | void>

interface SluiceVariables {
	sluice?: RequestSluice
}

interface HonoOptions {
	readonly next?: boolean | undefined
}

declare function explainClient(c: Context, options?: ExplainClientOptions): ClientExplanation

type HonoInflightLimitOptions = InflightLimitOptions<Context, FetchReply$1>

type HonoRateLimitOptions = RateLimitOptions<Context, FetchReply$1>

declare const inflightLimit: HonoLimiters['inflightLimit']

declare const rateLimit: HonoLimiters['rateLimit']

interface SluiceEnv {
	Variables: SluiceVariables
}

declare const shed: HonoLimiters['shed']

declare const slowDown: HonoLimiters['slowDown']

declare module 'hono' {
	interface ContextVariableMap extends SluiceVariables {}
}
export {
	createSluice,
	explainClient,
	type HonoInflightLimitOptions,
	type HonoMiddleware,
	type HonoOptions,
	type HonoRateLimitOptions,
	inflightLimit,
	rateLimit,
	type SluiceEnv,
	type SluiceVariables,
	shed,
	slowDown
}
export { type FetchReply as FetchReply } from '@sluice/fetch'
export * from '@sluice/http/shared'
