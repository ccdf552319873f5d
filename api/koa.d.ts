// index.d.ts
import {
	DecoratedLimiters,
	RequestSluice,
	ExplainClientOptions,
	ClientExplanation,
	InflightLimitOptions,
	RateLimitOptions
} from '@sluice/node-http/adapter'
import { Context, Next, Response, Middleware } from 'koa'

declare const createSluice: KoaLimiters['createSluice']

type KoaLimiters = DecoratedLimiters<Args, Context, Response, KoaMiddleware, KoaOptions>

type Args = readonly [ctx: Context, next: Next]

interface SluiceState {
	sluice?: RequestSluice
}

interface KoaMiddleware extends Middleware {
	wrap<Ctx = Context>(handler: (ctx: Ctx, next: Next) => unknown): (ctx: Ctx, next: Next) => unknown
}

interface KoaOptions {
	readonly next?: boolean | undefined
}

declare function explainClient(ctx: Context, options?: ExplainClientOptions): ClientExplanation

declare const InflightLimit: KoaLimiters['InflightLimit']

declare const inflightLimit: KoaLimiters['inflightLimit']

type KoaInflightLimitOptions = InflightLimitOptions<Context, Response> & KoaOptions

type KoaRateLimitOptions = RateLimitOptions<Context, Response> & KoaOptions

declare const RateLimit: KoaLimiters['RateLimit']

declare const rateLimit: KoaLimiters['rateLimit']

declare const Shed: KoaLimiters['Shed']

declare const SlowDown: KoaLimiters['SlowDown']

declare const shed: KoaLimiters['shed']

declare const slowDown: KoaLimiters['slowDown']

declare module 'koa' {
	interface DefaultState extends SluiceState {}
}
export {
	createSluice,
	explainClient,
	InflightLimit,
	inflightLimit,
	type KoaInflightLimitOptions,
	type KoaMiddleware,
	type KoaOptions,
	type KoaRateLimitOptions,
	RateLimit,
	rateLimit,
	Shed,
	SlowDown,
	type SluiceState,
	shed,
	slowDown
}
export * from '@sluice/node-http/shared'
