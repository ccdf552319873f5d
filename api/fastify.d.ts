// index.d.ts
import {
	DecoratedLimiters,
	RequestSluice,
	LayerOptions,
	ExplainClientOptions,
	ClientExplanation,
	InflightLimitOptions,
	RateLimitOptions,
	SluiceOptions,
	Backend
} from '@sluice/node-http/adapter'
import { FastifyRequest, FastifyReply, FastifyInstance, FastifyPluginAsync } from 'fastify'

declare const createSluice: FastifyLimiters['createSluice']

type FastifyLimiters = DecoratedLimiters<Args, FastifyRequest, FastifyReply, FastifyHook, FastifyOptions>

type Args = readonly [request: FastifyRequest, reply: FastifyReply]

interface FastifyRouteLimits extends LayerOptions<FastifyRequest, FastifyReply, FastifyOptions> {
	readonly phase?: FastifyPhase | undefined
}

interface FastifyOptions {
	readonly next?: boolean | undefined
}

type FastifyPhase = 'onRequest' | 'preHandler'

interface FastifyHook {
	(request: OfFastify, reply: OfFastify, done: Done): void
	wrap<H extends Handler>(handler: H): H
}

interface OfFastify {
	readonly raw: object
}

type Done = (error?: Error) => void

type Handler = {
	handle(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply): unknown
}['handle']

declare function explainClient(request: FastifyRequest, options?: ExplainClientOptions): ClientExplanation

type FastifyInflightLimitOptions = InflightLimitOptions<FastifyRequest, FastifyReply> & FastifyOptions

type FastifyRateLimitOptions = RateLimitOptions<FastifyRequest, FastifyReply> & FastifyOptions

declare const InflightLimit: FastifyLimiters['InflightLimit']

declare const inflightLimit: FastifyLimiters['inflightLimit']

declare const RateLimit: FastifyLimiters['RateLimit']

declare const rateLimit: FastifyLimiters['rateLimit']

declare const Shed: FastifyLimiters['Shed']

declare const SlowDown: FastifyLimiters['SlowDown']

declare const shed: FastifyLimiters['shed']

declare const slowDown: FastifyLimiters['slowDown']

interface FastifySluiceOptions extends FastifyRouteLimits, SluiceOptions<Backend> {}

declare const sluice: FastifyPluginAsync<FastifySluiceOptions>

declare module 'fastify' {
	interface FastifyRequest {
		sluice?: RequestSluice | undefined
	}
	interface FastifyContextConfig {
		sluice?: FastifyRouteLimits | undefined
	}
}
export {
	createSluice,
	explainClient,
	type FastifyInflightLimitOptions,
	type FastifyRateLimitOptions,
	InflightLimit,
	inflightLimit,
	RateLimit,
	rateLimit,
	Shed,
	SlowDown,
	shed,
	slowDown,
	type FastifyHook,
	type FastifyOptions,
	type FastifyPhase,
	type FastifyRouteLimits,
	type FastifySluiceOptions,
	sluice,
	sluice as default
}
export * from '@sluice/node-http/shared'
