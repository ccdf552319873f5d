import {
  type Admission,
  admitAll,
  type DeniedRequest,
  isDeniedRequest,
  type LimiterReport,
  type LimitLayer,
  sendDenial,
} from '@sluice/http'
import { type CallDenial, capText, rateText, subjectOf } from './denial.ts'
import { callOf, type McpCall, type PrincipalHook, type RawExtra, type RawRequest, signalOf } from './mcp-call.ts'
import { budgetOf, budgetText, isExhausted, type ToolBudgetOption } from './tool-budget.ts'
import { type CallReply, type CallResult, ToolExchange } from './tool-exchange.ts'
import { ToolLife } from './tool-life.ts'

export type CallLayer = LimitLayer<McpCall, CallReply>

/** The limits of a call. */
export interface CallTarget {
  readonly layer: CallLayer
  /** Name of the tool or method, if the options list it. */
  readonly route: string | undefined
}

/** How calls are limited and denied. */
interface CallRules {
  readonly principal: PrincipalHook | undefined
  /** Whether a denied tool call receives a JSON-RPC error instead of a result. */
  readonly protocolErrors: boolean
  readonly budget: ToolBudgetOption | undefined
  /** Reports failures of calls that have no limit of their own. */
  readonly report: LimiterReport
}

/** What a client reads of a denial. */
interface DescribedDenial {
  readonly text: string
  readonly data: CallDenial
}

const RESULT = 200
const DENIED = 429
const ERROR = 500

/** Checks the limits of calls in front of their handlers, and answers the calls that they deny. */
export class CallLimiter {
  readonly #rules: CallRules

  constructor(rules: CallRules) {
    this.#rules = rules
  }

  /** Returns the result of `run` or, for a denied call, the result that describes the denial. */
  async answer(
    request: RawRequest,
    extra: RawExtra,
    { layer, route }: CallTarget,
    run: () => unknown,
  ): Promise<CallResult> {
    const { limits } = layer
    const call = callOf(request, extra, this.#rules.principal, limits[0]?.report ?? this.#rules.report)
    const budgeted = (): unknown => this.#withinBudget(call, extra, run)
    if (limits.length === 0) return budgeted() as Promise<CallResult>
    const exchange = new ToolExchange(call, ToolLife.of(extra), route)
    const admission: Admission<McpCall, CallReply> = await admitAll(limits, exchange)
    if (isDeniedRequest(admission)) return this.#denied(exchange, admission, layer)
    // the SDK sends nothing to a client that has cancelled its request
    if (admission === 'gone') throw new Error('the call was cancelled')
    const result = finished(exchange, budgeted)
    if (admission === 'held' && limits.some(({ holdUntil }) => holdUntil === 'handler')) exchange.life.holdUntil(result)
    return result
  }

  async #denied(
    exchange: ToolExchange,
    refusal: DeniedRequest<McpCall, CallReply>,
    layer: CallLayer,
  ): Promise<CallResult> {
    await sendDenial(exchange, refusal)
    const { denial } = refusal
    exchange.life.finish(denial.status)
    if (exchange.returned) return exchange.returned
    return this.#errorOf(exchange.raw, denial.status, described(exchange, refusal, layer))
  }

  /** Runs a tool within the budget of its run, if it has one. */
  async #withinBudget(call: McpCall, extra: RawExtra, run: () => unknown): Promise<unknown> {
    const { budget, report } = this.#rules
    if (budget === undefined || call.tool === '') return run()
    try {
      const own = budgetOf(budget, call)
      if (!own) return await run()
      const { tool: name, args } = call
      return await own.call({ name, args, signal: signalOf(extra) }, async () => run())
    } catch (error) {
      if (!isExhausted(error, report)) throw error
      const data: CallDenial = { policy: 'budget', remaining: 0 }
      return this.#errorOf(call, DENIED, { text: budgetText(call), data })
    }
  }

  /** Returns the result of a denied call, or throws the JSON-RPC error. */
  #errorOf({ tool }: McpCall, code: number, { text, data }: DescribedDenial): CallResult {
    if (this.#rules.protocolErrors || tool === '') throw Object.assign(new Error(text), { code, data })
    return { content: [{ type: 'text', text }], isError: true, _meta: { ...data } }
  }
}

/** Runs a handler, and ends the call when the handler has settled. */
async function finished({ life, res }: ToolExchange, run: () => unknown): Promise<CallResult> {
  try {
    const result = (await run()) as CallResult
    res.result = result
    life.finish(result?.isError === true ? ERROR : RESULT)
    return result
  } catch (error) {
    life.finish(ERROR)
    throw error
  }
}

function described(
  { raw, sent }: ToolExchange,
  { denial, decision }: DeniedRequest<McpCall, CallReply>,
  layer: CallLayer,
): DescribedDenial {
  const waitMs = decision?.retryAfterMs ?? (denial.retryAfterSeconds ?? Number.POSITIVE_INFINITY) * 1_000
  const wait = Number.isFinite(waitMs) ? { retryAfterMs: waitMs } : {}
  // the option `message` has replaced the body
  const own = sent && sent !== denial ? sent.body : undefined
  if (decision) {
    const { policy, remaining } = decision.binding
    const data = {
      policy: policy.name,
      limit: policy.limit,
      remaining: Number.isFinite(remaining) ? remaining : 0,
      ...wait,
    }
    return { text: own ?? rateText(subjectOf(raw), policy, waitMs), data }
  }
  const [policy] = denial.violated
  const limit = layer.caps.find(({ gate }) => gate.name === policy)?.gate.limiter.limit
  const data: CallDenial = { policy, ...(limit !== undefined && { limit }), remaining: 0, ...wait }
  return { text: own ?? capText(subjectOf(raw), data, waitMs), data }
}
