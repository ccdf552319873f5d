import {
  type Backend,
  badOption,
  compileSharedOptions,
  errorAt,
  type InflightLimitOptions,
  LIMIT_PLACES,
  LimiterReport,
  LimitLayer,
  Observers,
  oneOf,
  optionalFunction,
  optionsOf,
  type RateLimitOptions,
  SluiceError,
  type SluiceOptions,
} from '@sluice/http'
import { type CallLayer, CallLimiter, type CallTarget } from './call-limiter.ts'
import { type LimitableServer, limitHandlers } from './limited-server.ts'
import type { McpCall, PrincipalHook, RawRequest } from './mcp-call.ts'
import { checkBudget, type ToolBudgetOption } from './tool-budget.ts'
import type { CallReply } from './tool-exchange.ts'

/** Options that describe HTTP headers and proxies, which MCP does not have. */
type HttpOption = 'headers' | 'headersOn' | 'legacy' | 'partitionKey' | 'trust'
type WithoutHttp<Options> = Options extends unknown ? Omit<Options, HttpOption> : never

/** Options of a rate limit on calls. `status` is the code of JSON-RPC errors. Default: 429. */
export type CallRateLimitOptions = WithoutHttp<RateLimitOptions<McpCall, CallReply>>
/** Options of a cap on concurrent calls. `status` is the code of JSON-RPC errors. Default: 503. */
export type CallInflightLimitOptions = WithoutHttp<InflightLimitOptions<McpCall, CallReply>>

/** Limits of the calls of a tool, or of another request. */
export interface CallLimits {
  /** Limits calls per window. Default key: the principal and the tool. `false` removes the limits of all tools. */
  readonly rateLimit?: CallRateLimitOptions | false | undefined
  /**
   * Caps concurrent calls. Default key: one key for the whole process. `false` removes the cap on all tools. A permit is
   * released when the tool has returned, or when the client cancels the call.
   */
  readonly inflightLimit?: CallInflightLimitOptions | false | undefined
  /** Names of policies and caps of all tools that do not apply here; true for all of them. */
  readonly skipLimits?: readonly string[] | true | undefined
}

/** Options of `limitTools`. `rateLimit` and `inflightLimit` apply to every tool. */
export interface LimitToolsOptions extends Omit<CallLimits, 'skipLimits'>, Omit<SluiceOptions<Backend>, 'trust'> {
  /**
   * Limits of single tools, by name. A policy or cap with the same name replaces the one of all tools, another name adds
   * a limit, and `false` removes all limits.
   */
  readonly tools?: Readonly<Record<string, CallLimits | false>> | undefined
  /**
   * Limits of other requests, by method: `{ 'resources/read': { rateLimit } }`. They do not inherit the limits of tools.
   * Denials are JSON-RPC errors.
   */
  readonly requests?: Readonly<Record<string, CallLimits>> | undefined
  /**
   * Returns the name of the client. Default, also if it returns undefined: the client id of the access token, else the
   * session, else one name for the process.
   */
  readonly principal?: PrincipalHook | undefined
  /**
   * The budget of the run in which tools are called, or a function that returns it, after the limits have allowed the
   * call. If the budget does not allow a call, the call is denied. A function that fails denies it, too.
   */
  readonly budget?: ToolBudgetOption | undefined
  /**
   * How a tool call is denied: with a tool result that has `isError`, which models read, or with a JSON-RPC error.
   * Default: `result`.
   */
  readonly error?: 'result' | 'protocol' | undefined
}

/** Limits of the tools of MCP servers. */
export interface ToolLimits {
  /**
   * Limits the tools of a server, and returns the server. Call it before the first tool is registered; tools may be
   * added, changed and removed afterwards. All servers share the counts. Throws `SLUICE_BAD_OPTION`.
   */
  apply<Server extends LimitableServer>(server: Server): Server
  /** Releases what the limits opened. */
  close(): void
}

const CALL = 'tools/call'
const LIMITS = ['rateLimit', 'inflightLimit', 'skipLimits'] as const
const OPTIONS = [
  'rateLimit',
  'inflightLimit',
  'tools',
  'requests',
  'principal',
  'budget',
  'error',
  'backend',
  'onBackendError',
  'deadlineMs',
  'clock',
  'observers',
] as const
const HTTP_OPTIONS: readonly HttpOption[] = ['headers', 'headersOn', 'legacy', 'partitionKey', 'trust']

/**
 * Creates limits for the tools of MCP servers: `limitTools({ rateLimit: { limit: 60, window: '1m' } })`. Create them once
 * per process, and apply them to each server that the process creates. Throws coded errors for invalid options.
 */
export function limitTools(options: LimitToolsOptions): ToolLimits {
  const { rateLimit, inflightLimit, tools = {}, requests = {}, principal, budget, error = 'result' } = checked(options)
  const root: CallLayer = LimitLayer.root<McpCall, CallReply>([], compileSharedOptions(options))
  try {
    const base = layerBelow(root, { rateLimit, inflightLimit }, CALL, 'limitTools')
    const targets = new Map(
      Object.entries(tools).map(([tool, own]) => {
        const layer = layerBelow(base, own === false ? { skipLimits: true } : own, `${CALL} ${tool}`, `tools.${tool}`)
        return [tool, { layer, route: tool }]
      }),
    )
    const others = new Map(
      Object.entries(requests).map(([method, own]) => [
        method,
        { layer: layerBelow(root, own, method, `requests.${method}`), route: method },
      ]),
    )
    const anyTool: CallTarget = { layer: base, route: undefined }
    const targetOf = ({ method, params }: RawRequest): CallTarget | undefined => {
      const target = method === CALL ? (targets.get(String(params?.name)) ?? anyTool) : others.get(method)
      const isLimited = Number(target?.layer.limits.length) > 0 || (budget !== undefined && method === CALL)
      return isLimited ? target : undefined
    }
    const report = new LimiterReport(new Observers(options.observers), () => ['tools'])
    const limiter = new CallLimiter({ principal, protocolErrors: error === 'protocol', budget, report })
    const methods = [CALL, ...others.keys()]
    return {
      apply: (server) => limitHandlers(server, methods, targetOf, limiter),
      close: () => root.close(),
    }
  } catch (failure) {
    root.close()
    throw failure
  }
}

function checked(options: LimitToolsOptions): LimitToolsOptions {
  const { rateLimit, inflightLimit, tools, requests, principal, budget, error } = optionsOf(
    'limitTools',
    options,
    OPTIONS,
    LIMIT_PLACES,
  )
  const given = [rateLimit, inflightLimit, tools, requests, budget]
  if (given.every((one) => one === undefined)) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      'limitTools: expected at least one of rateLimit, inflightLimit, tools, requests, budget, received none of them',
    )
  }
  for (const [name, value] of Object.entries({ tools, requests })) {
    if (value !== undefined && (typeof value !== 'object' || value === null || Array.isArray(value))) {
      throw badOption(`limitTools: ${name}`, value, 'an object of limits by name')
    }
  }
  if (requests && Object.hasOwn(requests, CALL)) {
    throw badOption(`limitTools: requests.${CALL}`, requests[CALL], 'limits of tools in rateLimit or tools')
  }
  optionalFunction('limitTools: principal', principal)
  checkBudget(budget)
  if (error !== undefined) oneOf('limitTools: error', error, ['result', 'protocol'])
  return options
}

/** Creates the layer of all tools, of one tool or of a method. `at` names it in errors. */
function layerBelow(above: CallLayer, own: CallLimits, routeScope: string, at: string): CallLayer {
  const where = at === 'limitTools' ? at : `limitTools: ${at}`
  const { rateLimit, inflightLimit, ...others } = optionsOf(where, own, LIMITS, LIMIT_PLACES)
  try {
    for (const limit of [rateLimit, inflightLimit]) refuseHttpOptions(limit)
    const limits = { ...others, rateLimit: rateLimit && withKey(rateLimit, above), inflightLimit }
    return above.extend(limits, routeScope)
  } catch (failure) {
    throw errorAt(where, failure)
  }
}

function refuseHttpOptions(limit: unknown): void {
  if (typeof limit !== 'object' || limit === null) return
  for (const name of HTTP_OPTIONS) {
    if (name in limit) {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `${name}: expected no options for headers and proxies, received ${name}`,
      )
    }
  }
}

/** Adds the default key, unless the layer above has a rate limit, whose key is inherited. */
function withKey(options: CallRateLimitOptions, above: CallLayer): CallRateLimitOptions {
  const isObject = typeof options === 'object' && options !== null
  return isObject && options.key === undefined && above.rates.length === 0
    ? { ...options, key: byPrincipalAndTool }
    : options
}

/** Counts by principal and tool: `<principal>:<tool>`. Colons of a tool name are escaped, so that keys are unique. */
const byPrincipalAndTool = Object.assign(
  ({ method, principal, tool }: McpCall): string =>
    method === CALL ? `${principal}:${tool.replace(/[%:]/g, encodeURIComponent)}` : principal,
  { label: 'principal and tool' },
)
