// adapter.d.ts
import { IncomingMessage, ServerResponse, IncomingHttpHeaders } from 'node:http'
import {
	Limiters,
	HttpExchange,
	RequestLife,
	RequestSluice,
	HttpLimit,
	ClientSource,
	LayerOptions,
	LimitLayer
} from '@sluice/http'
import { HeaderLine, HttpDenial } from '@sluice/limiter-core/http'
import { Next, ConnectMiddleware, DecoratedLimiters } from './types.js'

declare function afterCheck<T>(
	check: Promise<T>,
	go: (outcome: T) => unknown,
	onThrow: Next | undefined
): Promise<unknown>

declare function connectMount<Req extends IncomingMessage, Res extends ServerResponse>(
	Adapted: ExchangeClass<Req, Res>,
	handlesErrors?: boolean
): (limit: HttpLimit<Req, Res>) => ConnectMiddleware<Req, Res>

type ExchangeClass<Req, Res> = new (
	raw: Req,
	res: Res,
	incoming: IncomingMessage,
	outgoing: ServerResponse
) => Exchange<Req, Res>

declare abstract class Exchange<Req, Res> implements HttpExchange<Req, Res> {
	#private
	readonly raw: Req
	readonly res: Res
	readonly incoming: IncomingMessage
	readonly outgoing: ServerResponse
	readonly life: RequestLifecycle
	constructor(raw: Req, res: Res, incoming: IncomingMessage, outgoing: ServerResponse)
	get headers(): IncomingHttpHeaders
	abstract get ip(): string | undefined
	abstract get route(): string | undefined
	get knowsRoutes(): boolean
	get routeMethod(): string | undefined
	get peer(): string | undefined
	get link(): 'unix' | undefined
	get method(): string
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
	undoStatus(status: number): void
	refuseBody(): void
	send(denial: HttpDenial): void
	sendReturned(_returned: unknown): void
	abort(): boolean
	get cutOff(): (lastEvent: string) => void
}

declare class RequestLifecycle extends RequestLife {
	#private
	readonly isHttp2: boolean
	static of(req: IncomingMessage, res: ServerResponse): RequestLifecycle
	private constructor()
	get gone(): boolean
	protected keepFields(): void
	protected listen(isPresent?: boolean): boolean
}

declare function holdWhile(work: unknown, holder: Holder | undefined): unknown

type Holder = Pick<Exchange<unknown, unknown>, 'life'>

interface Wrappable {
	wrap(handler: never): unknown
}

declare function withDecorators<Args extends readonly unknown[], Req, Res, Mounted extends Wrappable, Extra = unknown>(
	limiters: Limiters<Req, Res, Mounted, Extra>
): DecoratedLimiters<Args, Req, Res, Mounted, Extra>

declare function expressMethod({ route, method }: ExpressRequest): string
interface ExpressRequest {
	readonly method: string
	readonly route?: ExpressRoute | undefined
	readonly app?: ExpressApplication | undefined
}

interface ExpressRoute {
	readonly path: unknown
	readonly methods?: Readonly<Record<string, unknown>>
}

interface ExpressApplication {
	readonly _router?: Router
	readonly router?: Router
	path?(): string
}

interface Router {
	readonly stack: readonly Layer[]
}

interface Layer {
	readonly route?: unknown
	readonly handle?: unknown
	readonly rawPath?: unknown
	readonly regexp?: RegExp
	readonly slash?: boolean
}

declare function expressPattern({ route, app }: ExpressRequest): string | undefined

declare function nodeSource({ socket, headers }: IncomingMessage, ip: string | undefined): ClientSource

declare function warnAboutExpressTrust(trust: unknown): void

declare function warnAboutFastifyOption(app: FastifyTrust): void

interface FastifyTrust {
	readonly version: string
}

declare function warnTrustsAllProxies(setting: string): void
declare function warnUntrustedProxy(): void

declare class ReplyExchange<Req extends ReplyRequest, Res extends Reply> extends Exchange<Req, Res> {
	constructor(request: Req, reply: Res)
	get ip(): string | undefined
	get route(): string | undefined
	get knowsRoutes(): boolean
	get routeMethod(): string
	get isAnswered(): boolean
	get headerNames(): readonly string[]
	getHeader(name: string): unknown
	setHeader(name: string, value: string): void
	setLines(lines: readonly HeaderLine[]): boolean
	removeHeader(name: string): void
	send(denial: HttpDenial): void
	sendReturned(returned: unknown): void
}

interface ReplyRequest extends RoutedRequest {
	readonly raw: IncomingMessage
	readonly ip: string
	readonly server: FastifyTrust
	sluice?: RequestSluice | undefined
}

interface RoutedRequest {
	readonly routeOptions?: {
		readonly config: RouteConfig
	}
}
interface RouteConfig {
	readonly url?: string | undefined
	readonly method?: string | readonly string[] | undefined
}

interface Reply {
	readonly raw: object
	readonly sent: boolean
	getHeader(name: string): unknown
	getHeaders(): object
	header(name: string, value: string): unknown
	removeHeader(name: string): unknown
	serializer(write: (payload: unknown) => string): unknown
	send(payload: unknown): unknown
}

declare function routeConfigOf(request: RoutedRequest): RouteConfig

declare function routePattern(url: string | undefined): string | undefined

interface RouteInfo<Options> {
	readonly url?: string | undefined
	readonly method?: string | readonly string[] | undefined
	readonly constraints?: string | undefined
	readonly own: Options | undefined
}

declare class RouteLayers<Req, Res, Options extends LayerOptions<Req, Res>> {
	#private
	readonly above: LimitLayer<Req, Res>
	constructor(above: LimitLayer<Req, Res>, names: RouteScopeNames, check: (own: Options) => void)
	of(route: RouteInfo<Options>): LimitLayer<Req, Res>
	ofExistingRoute(route: RouteInfo<Options>): LimitLayer<Req, Res>
}
declare class RouteScopeNames {
	#private
	of(name: string, part: unknown): string
}

declare module 'node:http' {
	interface IncomingMessage {
		sluice?: RequestSluice
	}
}
export {
	afterCheck,
	connectMount,
	holdWhile,
	type Wrappable,
	withDecorators,
	Exchange,
	expressMethod,
	expressPattern,
	nodeSource,
	warnAboutExpressTrust,
	warnAboutFastifyOption,
	warnTrustsAllProxies,
	warnUntrustedProxy,
	ReplyExchange,
	type RouteConfig,
	routeConfigOf,
	routePattern,
	type RouteInfo,
	RouteLayers,
	RouteScopeNames,
	RequestLifecycle
}
export { type ConnectMiddleware, type Next, type DecoratedLimiters } from './types.js'
export * from '@sluice/http'

// index.d.ts
import { IncomingMessage, ServerResponse } from 'node:http'
import { ExplainClientOptions, ClientExplanation } from '@sluice/http'
import { Next, ConnectMiddleware, DecoratedLimiters } from './types.js'

declare const createSluice: NodeLimiters['createSluice']

type NodeLimiters = DecoratedLimiters<Args, IncomingMessage, ServerResponse, Middleware$1>

type Args = readonly [req: IncomingMessage, res: ServerResponse, next: Next]

type Middleware$1 = ConnectMiddleware<IncomingMessage, ServerResponse>

declare function explainClient(request: IncomingMessage, options?: ExplainClientOptions): ClientExplanation

declare const InflightLimit: NodeLimiters['InflightLimit']

declare const inflightLimit: NodeLimiters['inflightLimit']

declare const RateLimit: NodeLimiters['RateLimit']

declare const rateLimit: NodeLimiters['rateLimit']

declare const Shed: NodeLimiters['Shed']

declare const SlowDown: NodeLimiters['SlowDown']

declare const shed: NodeLimiters['shed']

declare const slowDown: NodeLimiters['slowDown']
export {
	type ConnectHandler,
	type ConnectMiddleware,
	type WrappedHandler,
	type Next,
	type ConnectionLimit,
	type ConnectionLimitOptions,
	limitConnections,
	type DecoratedSluice,
	type LimitDecorators,
	type LimitDecorator,
	type ContinueGuard,
	type ContinueGuardOptions,
	guardContinue,
	limitUpgrade,
	type SocketCapOptions,
	type UpgradeLimit,
	type UpgradeLimitOptions,
	type UpgradeListener
} from './types.js'
export {
	createSluice,
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
export * from '@sluice/http/shared'

// shared-exports.d.ts
export {
	type ConnectHandler,
	type ConnectMiddleware,
	type WrappedHandler,
	type Next,
	type ConnectionLimit,
	type ConnectionLimitOptions,
	limitConnections,
	type DecoratedSluice,
	type LimitDecorators,
	type LimitDecorator,
	type ContinueGuard,
	type ContinueGuardOptions,
	guardContinue,
	limitUpgrade,
	type SocketCapOptions,
	type UpgradeLimit,
	type UpgradeLimitOptions,
	type UpgradeListener
} from './types.js'
export * from '@sluice/http/shared'

// types.d.ts
import { InflightLimiter, Limiter } from '@sluice/limiter-core'
import {
	InflightLimitOptions,
	Sluice,
	LimiterFactories,
	RateLimitOptions,
	RateHandle,
	InflightHandle,
	ShedOptions,
	ShedHandle,
	Limiters,
	SluiceOptions
} from '@sluice/http'
import { Socket } from 'node:net'
import { EventEmitter } from 'node:events'
import { Backend, Answer } from '@sluice/limiter-core/http'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'

type ConnectHandler<Req, Res> = (req: Req, res: Res, next: Next) => unknown
type Next = (error?: unknown) => void

interface ConnectMiddleware<Req, Res> {
	(req: Req, res: Res, next: Next): void
	wrap<R = Req, S = Res>(handler: ConnectHandler<R, S>): WrappedHandler<R, S>
}

type WrappedHandler<Req, Res> = (req: Req, res: Res, next?: Next) => unknown

interface ConnectionLimit {
	readonly limiter: InflightLimiter
	close(): void
}

interface ConnectionLimitOptions
	extends Pick<
		InflightLimitOptions<Socket, never>,
		'limit' | 'key' | 'weight' | 'backend' | 'shared' | 'skip' | 'mode' | 'observers' | 'clock'
	> {
	readonly name?: string | undefined
}

declare function limitConnections(server: ConnectionServer, options: ConnectionLimitOptions): ConnectionLimit

type ConnectionServer = Pick<EventEmitter, 'on' | 'off' | 'emit'>

interface DecoratedSluice<
	Args extends readonly unknown[],
	Req,
	Res,
	Mounted,
	Extra = unknown,
	B extends Backend = Backend<Answer>
> extends Sluice<Req, Res, Mounted, Extra, B>,
		LimitDecorators<Args, Req, Res, Mounted, Extra> {}

interface LimitDecorators<Args extends readonly unknown[], Req, Res, Mounted, Extra = unknown> {
	RateLimit(limit: Given<LimiterFactories<Req, Res, Mounted, Extra>['rateLimit']>): LimitDecorator<Args>
	InflightLimit(cap: Given<LimiterFactories<Req, Res, Mounted, Extra>['inflightLimit']>): LimitDecorator<Args>
	SlowDown(slow: Given<LimiterFactories<Req, Res, Mounted, Extra>['slowDown']>): LimitDecorator<Args>
	Shed(shed: NonNullable<Given<LimiterFactories<Req, Res, Mounted, Extra>['shed']>>): LimitDecorator<Args>
}

type Given<Make extends (options: never) => unknown> = Parameters<Make>[0] | ReturnType<Make>

interface LimitDecorator<Args extends readonly unknown[]> {
	<This, Method extends HandlerMethod<Args>>(method: Method, context: ClassMethodDecoratorContext<This, Method>): Method
	<This, Method extends HandlerMethod<Args>>(
		nothing: undefined,
		context: ClassFieldDecoratorContext<This, Method>
	): (initial: Method) => Method
	<Method extends HandlerMethod<Args>>(
		target: object,
		name: string | symbol,
		descriptor: TypedPropertyDescriptor<Method>
	): TypedPropertyDescriptor<Method>
}

type HandlerMethod<Args extends readonly unknown[]> = {
	handle(...args: Args): unknown
}['handle']

interface ContinueGuard {
	close(): void
}

interface ContinueGuardOptions {
	readonly rateLimit?: RateOptions | (Middleware & RateHandle) | undefined
	readonly inflightLimit?:
		| InflightLimitOptions<IncomingMessage, ServerResponse>
		| (Middleware & InflightHandle)
		| undefined
}

type RateOptions = RateLimitOptions<IncomingMessage, ServerResponse>

type Middleware = ConnectMiddleware<IncomingMessage, ServerResponse>

declare function guardContinue(server: Server, options: ContinueGuardOptions): ContinueGuard

type Server = Pick<EventEmitter, 'on' | 'off' | 'emit' | 'listenerCount'>

declare function limitUpgrade(options: UpgradeLimitOptions, upgrade?: UpgradeListener): UpgradeLimit

interface UpgradeLimitOptions {
	readonly shed?: ShedOptions<IncomingMessage, ServerResponse> | undefined
	readonly rateLimit?: RateLimitOptions<IncomingMessage, ServerResponse> | undefined
	readonly inflightLimit?: SocketCapOptions | readonly SocketCapOptions[] | undefined
}

type SocketCapOptions = Omit<InflightLimitOptions<IncomingMessage, ServerResponse>, 'holdUntil'>

type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => unknown

interface UpgradeLimit {
	(req: IncomingMessage, socket: Duplex, head: Buffer): void
	readonly limiter: Limiter | undefined
	readonly caps: readonly InflightLimiter[]
	readonly shedder: ShedHandle['shedder'] | undefined
	close(): void
}

interface DecoratedLimiters<Args extends readonly unknown[], Req, Res, Mounted, Extra = unknown>
	extends Limiters<Req, Res, Mounted, Extra>,
		LimitDecorators<Args, Req, Res, Mounted, Extra> {
	createSluice<B extends Backend = Backend<Answer>>(
		options?: SluiceOptions<B>
	): DecoratedSluice<Args, Req, Res, Mounted, Extra, B>
}
export {
	ConnectHandler,
	Next,
	ConnectMiddleware,
	WrappedHandler,
	ConnectionLimit,
	ConnectionLimitOptions,
	limitConnections,
	ConnectionServer,
	DecoratedSluice,
	LimitDecorators,
	Given,
	LimitDecorator,
	HandlerMethod,
	ContinueGuard,
	ContinueGuardOptions,
	RateOptions,
	Middleware,
	guardContinue,
	Server,
	limitUpgrade,
	UpgradeLimitOptions,
	SocketCapOptions,
	UpgradeListener,
	UpgradeLimit,
	DecoratedLimiters
}
