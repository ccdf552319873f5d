// adapter.d.ts
import {
	MaybePromise,
	ClientSource,
	HttpLimit,
	HttpExchange,
	HeaderLine,
	RequestLife,
	HttpDenial,
	Admission,
	PassError
} from '@sluice/http'
import { FetchReply, FetchNext } from './types.js'

declare function fetchSource(request: Request, infos: readonly unknown[]): ClientSource

type HostPeer = Pick<ClientSource, 'peer' | 'link'>

declare function hostPeer(request: Request, infos: readonly unknown[]): HostPeer

declare function answer<Req>(
	limit: HttpLimit<Req, FetchReply>,
	exchange: FetchExchange<Req>,
	work: FetchNext
): MaybePromise<Response>

declare class FetchExchange<Req = Request> implements HttpExchange<Req, FetchReply> {
	#private
	readonly raw: Req
	readonly res: LimitReply
	readonly life: FetchLife
	denied: Response | undefined
	constructor(raw: Req, request: Request, origin: RequestOrigin)
	get ip(): string | undefined
	get peer(): string | undefined
	get link(): HostPeer['link']
	get route(): string | undefined
	get knowsRoutes(): boolean
	get routeMethod(): string | undefined
	get method(): string
	get headers(): {
		readonly origin: string | undefined
	}
	header(name: string): string | undefined
	headerText(name: string): string | undefined
	get isAnswered(): boolean
	get hasEnded(): boolean
	get headerNames(): readonly string[]
	getHeader(name: string): unknown
	setHeader(name: string, value: string): void
	setLines(lines: readonly HeaderLine[]): boolean
	removeHeader(name: string): void
	setStatus(status: number): void
	send({ contentType, body }: HttpDenial): void
	protected respond(body: string | null): Response
	discardPrepared(): void
	sendReturned(returned: unknown): void
	get cutOff(): (lastEvent: string) => void
	finish(response: Response): Response
}

declare class LimitReply implements FetchReply {
	#private
	status: number
	response: Response | undefined
	get headers(): Headers
	get lines(): readonly HeaderLine[]
	get(name: string): string | undefined
	set(name: string, value: string): void
	delete(name: string): void
}

declare class FetchLife extends RequestLife {
	#private
	isDenied: boolean
	depth: number
	mayCutOff: boolean
	static of(known: unknown, owner: object, request: Request, infos: () => readonly unknown[]): FetchLife
	private constructor()
	get gone(): boolean
	followReplacements(): boolean
	enter(): void
	leave(response: Response): Response
	follow(response: Response): Response
	cutOff(lastEvent: string): void
	refuse(response: Response): Response
	fail(): void
	protected reference(target: unknown): () => unknown
	protected listen(): boolean
}

interface RequestOrigin {
	readonly life: FetchLife
	readonly peer: HostPeer
	readonly route?: string | undefined
	readonly routeMethod?: string | undefined
}

declare function isRefused<Req>(admission: Admission<Req, FetchReply>): admission is Refused<Req>

type Refused<Req> = Exclude<Admission<Req, FetchReply>, 'passed' | 'held'>

declare function refusal<Req>(
	exchange: FetchExchange<Req>,
	admission: Refused<Req>,
	passError?: PassError
): MaybePromise<Response>
export {
	fetchSource,
	type HostPeer,
	hostPeer,
	answer,
	isRefused,
	refusal,
	FetchExchange,
	type RequestOrigin,
	FetchLife
}
export { type FetchReply } from './types.js'
export { type ClientSource as ClientSource } from '@sluice/http'

// better-auth.d.ts
import { LimiterOptions, Limiter } from '@sluice/http/shared'

interface BetterAuthRule {
	readonly window: number
	readonly max: number
}

interface BetterAuthAnswer {
	readonly allowed: boolean
	readonly retryAfter: number | null
}

interface BetterAuthStorage {
	consume(key: string, rule: BetterAuthRule): Promise<BetterAuthAnswer>
	close(): Promise<void>
}

type BetterAuthStorageOptions = Omit<LimiterOptions, 'policies'>

declare function betterAuthStorage(limits?: Limiter | BetterAuthStorageOptions): BetterAuthStorage
export {
	type BetterAuthRule,
	type BetterAuthAnswer,
	type BetterAuthStorage,
	type BetterAuthStorageOptions,
	betterAuthStorage
}

// index.d.ts
import {
	Limiters,
	MaybePromise,
	ExplainClientOptions,
	ClientExplanation,
	InflightLimitOptions,
	RateLimitOptions,
	RequestSluice
} from '@sluice/http'
import { FetchReply, FetchNext } from './types.js'

interface FetchInfo extends HostResponse, Connected {
	readonly ip?: string | null | undefined
	readonly remoteAddr?:
		| {
				readonly hostname?: string | undefined
		  }
		| undefined
	readonly requestIP?:
		| ((request: Request) => {
				readonly address: string
		  } | null)
		| undefined
	readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

interface HostResponse {
	readonly incoming?: NodeRequest | undefined
	readonly outgoing?: NodeResponse | undefined
	readonly completed?: PromiseLike<unknown> | undefined
}

interface NodeRequest {
	readonly aborted?: boolean | undefined
	readonly httpVersionMajor?: number | undefined
	readonly socket?:
		| {
				readonly remoteAddress?: string | undefined
		  }
		| null
		| undefined
}
interface NodeResponse {
	readonly statusCode?: number | undefined
	readonly writableFinished?: boolean | undefined
	readonly closed?: boolean | undefined
	readonly destroyed?: boolean | undefined
	readonly errored?: unknown
	on(event: 'close' | 'finish', listener: () => void): unknown
	off(event: 'close' | 'finish', listener: () => void): unknown
}

interface Connected {
	readonly socket?:
		| {
				readonly remoteAddress?: string | undefined
		  }
		| null
		| undefined
}

declare const createSluice: FetchLimiters['createSluice']

type FetchLimiters = Limiters<Request, FetchReply, FetchMiddleware>

interface FetchMiddleware {
	(request: Request, info: FetchInfo | undefined, next: FetchNext): MaybePromise<Response>
	wrap<Args extends readonly unknown[]>(
		handler: (request: Request, ...args: Args) => MaybePromise<Response>
	): (request: Request, ...args: readonly [...Args, ...unknown[]]) => MaybePromise<Response>
}

declare function explainClient(request: Request, info?: FetchInfo, options?: ExplainClientOptions): ClientExplanation

type FetchInflightLimitOptions = InflightLimitOptions<Request, FetchReply>

type FetchRateLimitOptions = RateLimitOptions<Request, FetchReply>

declare const inflightLimit: FetchLimiters['inflightLimit']

declare const rateLimit: FetchLimiters['rateLimit']

declare const shed: FetchLimiters['shed']

declare const slowDown: FetchLimiters['slowDown']

declare function sluiceOf(request: Request): RequestSluice | undefined
export {
	type FetchInfo,
	createSluice,
	explainClient,
	type FetchInflightLimitOptions,
	type FetchMiddleware,
	type FetchRateLimitOptions,
	inflightLimit,
	rateLimit,
	shed,
	slowDown,
	sluiceOf
}
export { type FetchNext, type FetchReply } from './types.js'
export * from '@sluice/http/shared'

// types.d.ts
import { MaybePromise } from '@sluice/http'

interface FetchReply {
	status: number
	readonly headers: Headers
	response: Response | undefined
}

type FetchNext = () => MaybePromise<Response>
export { FetchReply, FetchNext }
