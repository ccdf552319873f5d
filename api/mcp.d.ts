// index.d.ts
import { InflightLimitOptions, RateLimitOptions, SluiceOptions, Backend } from '@sluice/http'

interface CallDenial {
	readonly policy: string
	readonly limit?: number | undefined
	readonly remaining: number
	readonly retryAfterMs?: number | undefined
}

type CallInflightLimitOptions = WithoutHttp<InflightLimitOptions<McpCall, CallReply>>

type WithoutHttp<Options> = Options extends unknown ? Omit<Options, HttpOption> : never

type HttpOption = 'headers' | 'headersOn' | 'legacy' | 'partitionKey' | 'trust'

interface McpCall extends McpRequest {
	readonly principal: string
}

interface McpRequest {
	readonly method: string
	readonly tool: string
	readonly args: Readonly<Record<string, unknown>>
	readonly params: Readonly<Record<string, unknown>>
	readonly authInfo: CallAuth | undefined
	readonly sessionId: string | undefined
	header(name: string): string | undefined
}

interface CallAuth {
	readonly clientId: string
	readonly scopes: readonly string[]
	readonly extra?: Readonly<Record<string, unknown>> | undefined
}

interface CallReply {
	result: CallResult | undefined
}

interface CallResult {
	readonly isError?: boolean | undefined
	readonly content?: readonly unknown[] | undefined
	readonly structuredContent?: Readonly<Record<string, unknown>> | undefined
	readonly _meta?: Readonly<Record<string, unknown>> | undefined
	readonly [member: string]: unknown
}

interface CallLimits {
	readonly rateLimit?: CallRateLimitOptions | false | undefined
	readonly inflightLimit?: CallInflightLimitOptions | false | undefined
	readonly skipLimits?: readonly string[] | true | undefined
}

type CallRateLimitOptions = WithoutHttp<RateLimitOptions<McpCall, CallReply>>

interface LimitToolsOptions extends Omit<CallLimits, 'skipLimits'>, Omit<SluiceOptions<Backend>, 'trust'> {
	readonly tools?: Readonly<Record<string, CallLimits | false>> | undefined
	readonly requests?: Readonly<Record<string, CallLimits>> | undefined
	readonly principal?: PrincipalHook | undefined
	readonly budget?: ToolBudgetOption | undefined
	readonly error?: 'result' | 'protocol' | undefined
}

type PrincipalHook = (request: McpRequest) => string | number | undefined

type ToolBudgetOption = ToolBudget | ((call: McpCall) => ToolBudget | undefined)

interface ToolBudget {
	call<Result>(
		options: {
			readonly name: string
			readonly args?: unknown
			readonly signal?: AbortSignal | undefined
		},
		work: () => Promise<Result>
	): Promise<Awaited<Result>>
}

declare function limitTools(options: LimitToolsOptions): ToolLimits

interface ToolLimits {
	apply<Server extends LimitableServer>(server: Server): Server
	close(): void
}

type LimitableServer =
	| HandlerRegistry
	| {
			readonly server: HandlerRegistry
	  }

interface HandlerRegistry {
	setRequestHandler(...args: never[]): unknown
	assertCanSetRequestHandler?(method: string): void
}
export {
	type CallDenial,
	type CallInflightLimitOptions,
	type CallLimits,
	type CallRateLimitOptions,
	type LimitToolsOptions,
	limitTools,
	type ToolLimits,
	type LimitableServer,
	type CallAuth,
	type McpCall,
	type McpRequest,
	type PrincipalHook,
	type ToolBudget,
	type ToolBudgetOption,
	type CallReply,
	type CallResult
}
export * from '@sluice/http/shared'
