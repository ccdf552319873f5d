// index.d.ts
import {
	LayerOptions,
	RateLimitOptions,
	RateHandle,
	InflightLimitOptions,
	InflightHandle,
	SlowDownOptions,
	SlowDownHandle,
	ShedOptions,
	ShedHandle,
	Backend,
	Answer,
	SluiceOptions,
	Sluice,
	ExplainClientOptions,
	ClientExplanation,
	Decision,
	DeniedRequest,
	HttpLimit
} from '@sluice/node-http/adapter'
import {
	CanActivate,
	NestInterceptor,
	HttpException,
	ExceptionFilter,
	ArgumentsHost,
	OnModuleInit,
	BeforeApplicationShutdown,
	OnApplicationShutdown,
	ExecutionContext,
	CallHandler,
	DynamicModule,
	ModuleMetadata
} from '@nestjs/common'
import { ModulesContainer } from '@nestjs/core'
import { PoliciesOptions } from '@sluice/node-http/shared'
import { Observable } from 'rxjs'

type PlatformRequest = any

type PlatformResponse = any

declare function InflightLimit(limit: OptionsOf<'inflightLimit'>): LimitDecorator

type OptionsOf<Word extends 'shed' | 'rateLimit' | 'slowDown' | 'inflightLimit'> = Exclude<NestLayer[Word], undefined>

type NestLayer = LayerOptions<PlatformRequest, PlatformResponse>

type LimitDecorator = ClassDecorator & MethodDecorator

declare function RateLimit(limit: OptionsOf<'rateLimit'> | string): LimitDecorator

declare function Shed(shed: OptionsOf<'shed'>): LimitDecorator

declare function SkipLimits(...names: readonly string[]): LimitDecorator

declare function SlowDown(limit: OptionsOf<'slowDown'>): LimitDecorator

declare const createSluice: NestLimiters['createSluice']

interface NestLimiters extends NestLimiterFactories {
	createSluice<B extends Backend = Backend<Answer>>(options?: SluiceOptions<B>): NestSluice<B>
}

interface NestLimiterFactories {
	rateLimit(options: NestRateLimitOptions): CanActivate & RateHandle
	inflightLimit(options: NestInflightLimitOptions): NestInterceptor & InflightHandle
	slowDown(options: NestSlowDownOptions): CanActivate & SlowDownHandle
	shed(options?: NestShedOptions): CanActivate & ShedHandle
}

type NestRateLimitOptions = RateLimitOptions<PlatformRequest, PlatformResponse>

type NestInflightLimitOptions = InflightLimitOptions<PlatformRequest, PlatformResponse>

type NestSlowDownOptions = SlowDownOptions<PlatformRequest, PlatformResponse>

type NestShedOptions = ShedOptions<PlatformRequest, PlatformResponse>

type NestSluice<B extends Backend> = NestLimiterFactories &
	Pick<Sluice<PlatformRequest, PlatformResponse, object, unknown, B>, 'limiter'>

declare function explainClient(request: PlatformRequest, options?: ExplainClientOptions): ClientExplanation

declare const inflightLimit: NestLimiters['inflightLimit']

declare const rateLimit: NestLimiters['rateLimit']

declare const shed: NestLimiters['shed']

declare const slowDown: NestLimiters['slowDown']

interface DeniedExtensions {
	readonly code: 'SLUICE_DENIED'
	readonly retryAfter?: number
	readonly violatedPolicies: readonly string[]
}

declare class SluiceDenied extends HttpException {
	readonly code = 'SLUICE_DENIED'
	readonly retryAfter: number | undefined
	readonly decision: Decision | undefined
	readonly extensions: DeniedExtensions
	static [Symbol.hasInstance](error: unknown): boolean
	constructor({ denial, decision }: Pick<DeniedRequest<never, never>, 'denial' | 'decision'>)
}

declare class SluiceFilter implements ExceptionFilter<SluiceDenied> {
	catch(denied: SluiceDenied, _host: ArgumentsHost): void
}

declare class SluiceGuard implements CanActivate {
	#private
	constructor(limits: RouteLimits)
	canActivate(context: ExecutionContext): boolean | Promise<boolean>
}

declare class RouteLimits implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
	#private
	static join(modules: ModulesContainer, options: SluiceModuleOptions): RouteLimits
	static ofGuarded(life: object): RouteLimits | undefined
	private constructor()
	onModuleInit(): void
	beforeApplicationShutdown(): void
	onApplicationShutdown(): void
	met(life: object, part: keyof HandlerLimits): boolean
	claimInterceptor(): boolean
	of(kind: CallKind, owner: Callable, handler: Callable): HandlerLimits
	add(options: SluiceModuleOptions): void
}

interface SluiceModuleOptions extends SluiceOptions<Backend> {
	readonly policies?: Policies | undefined
	readonly shed?: ShedOptions<PlatformRequest, PlatformResponse> | undefined
	readonly rateLimit?: RateLimitOptions<PlatformRequest, PlatformResponse> | undefined
	readonly slowDown?: SlowDownOptions<PlatformRequest, PlatformResponse> | undefined
	readonly inflightLimit?: InflightLimitOptions<PlatformRequest, PlatformResponse> | undefined
	readonly contexts?: Readonly<Record<string, NestContextLimits>> | undefined
}

type Policies = Extract<PoliciesOptions<PlatformRequest, PlatformResponse>['policies'], readonly unknown[]>

interface NestContextLimits {
	readonly shed?: ShedOptions<PlatformRequest, PlatformResponse> | undefined
	readonly rateLimit?: RateLimitOptions<PlatformRequest, PlatformResponse> | undefined
	readonly slowDown?: SlowDownOptions<PlatformRequest, PlatformResponse> | undefined
	readonly inflightLimit?: InflightLimitOptions<PlatformRequest, PlatformResponse> | undefined
}

interface HandlerLimits {
	readonly rates: Limits
	readonly caps: Limits
}

type Limits = readonly HttpLimit<PlatformRequest, PlatformResponse>[]

type CallKind = string

type Callable = Function

declare class SluiceInterceptor implements NestInterceptor {
	#private
	constructor(limits: RouteLimits)
	intercept(context: ExecutionContext, next: CallHandler): Observable<unknown>
}

declare class SluiceModule {
	constructor(limits?: RouteLimits)
	static forRoot(options?: SluiceModuleOptions & SluiceModulePlacement): DynamicModule
	static forRootAsync(options: SluiceModuleAsyncOptions): DynamicModule
}

interface SluiceModulePlacement {
	readonly global?: boolean | undefined
	readonly bind?: boolean | undefined
}

interface SluiceModuleAsyncOptions extends SluiceModulePlacement, Pick<ModuleMetadata, 'imports'> {
	readonly inject?: any[] | undefined
	readonly useFactory: (...injected: any[]) => SluiceModuleOptions | Promise<SluiceModuleOptions>
}
export {
	type PlatformRequest,
	type PlatformResponse,
	InflightLimit,
	type LimitDecorator,
	RateLimit,
	Shed,
	SkipLimits,
	SlowDown,
	createSluice,
	explainClient,
	inflightLimit,
	type NestInflightLimitOptions,
	type NestLimiterFactories,
	type NestRateLimitOptions,
	type NestShedOptions,
	type NestSlowDownOptions,
	type NestSluice,
	rateLimit,
	shed,
	slowDown,
	type DeniedExtensions,
	SluiceDenied,
	SluiceFilter,
	SluiceGuard,
	SluiceInterceptor,
	SluiceModule,
	type NestContextLimits,
	type SluiceModuleAsyncOptions,
	type SluiceModuleOptions,
	type SluiceModulePlacement
}
export * from '@sluice/node-http/shared'
