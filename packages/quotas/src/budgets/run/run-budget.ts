import type { MaybePromise } from '@sluice/limiter-core/backend'
import type { RunEnd } from './level/run-end.ts'
import type { ChildOptions, RunBounds } from './level/run-options.ts'

/** What a budget and its children have spent, including running calls, or have left. */
export interface RunAmounts {
  /** Dollars as a decimal number in a string: `'0.012345'`. */
  readonly usd: string
  /** The same in millionths of a dollar, an integer. */
  readonly microUsd: number
  readonly tokens: number
  readonly calls: number
  readonly seconds: number
}

/** The bill of a budget. The bills of its children are parts of it. */
export interface RunReport {
  readonly name: string
  readonly spent: RunAmounts
  /** Why it ended; undefined while it can be used. */
  readonly end: RunEnd | undefined
  readonly children: readonly RunReport[]
}

/** What a call of a tool or function may cost in addition to being one call. */
export type WorkCost = Pick<RunBounds, 'usd' | 'tokens'>

export interface WorkOptions<Args, Result> {
  /** Name of the tool, for the detection of loops. */
  readonly name: string
  /** Arguments of the call, for the detection of loops. */
  readonly args?: Args | undefined
  /** What the call holds. Default: nothing but one call. */
  readonly cost?: WorkCost | undefined
  /** Returns what the call has cost. Default, also if the call fails: `cost`. */
  readonly settle?: ((result: Result) => WorkCost) | undefined
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined
}

/** Options of a guarded function. */
export interface GuardOptions<Args extends readonly unknown[], Result>
  extends Pick<WorkOptions<unknown, Result>, 'cost' | 'settle'> {
  /** Name of the tool, for the detection of loops. Default: the name of the function. */
  readonly name?: string | undefined
  /** Returns what is equal for repeated calls. Default: all arguments. */
  readonly compare?: ((...args: Args) => unknown) | undefined
}

/** The budget of a run or of a part of it. Created by `runBudget` and `child`. */
export interface RunBudget {
  /** Identifies the run on its backend. */
  readonly id: string
  /** `run`, or the names of the children: `research/search`. */
  readonly name: string
  /** Aborted when the budget ends, with the reason as a `BudgetExhausted`. */
  readonly signal: AbortSignal
  /** Why the budget ended; undefined while it can be used. */
  readonly end: RunEnd | undefined
  /** What the calls of this process have spent. */
  readonly spent: RunAmounts
  /** Returns what is left of each bound in all processes; undefined for what is not bounded. Held units are not left. */
  left(): Promise<Partial<RunAmounts>>
  /** Returns the bills of this budget and of its children. */
  report(): RunReport
  /**
   * Creates the budget of a sub-agent: a share of each bound, such as 0.2, or options. What it spends also counts in this
   * budget. The shares of all children may add up to more than 1. Throws `SLUICE_BAD_OPTION`, and
   * `SLUICE_BUDGET_EXHAUSTED` if this budget has ended.
   */
  child(options: number | ChildOptions): RunBudget
  /**
   * Returns a model, a model provider or an MCP client whose calls hold their units in this budget:
   * - a language model of the AI SDK, versions 2 to 4 of its interface
   * - a `Model` or a `ModelProvider` of the OpenAI Agents SDK
   * - a client of the MCP SDK, whose `callTool` is guarded
   *
   * `model`: name of the model in `prices`. Default: `modelId`, or the name that the provider receives. Throws
   * `SLUICE_BAD_OPTION` for anything else, and if dollars are bounded and the model has no price.
   */
  wrap<T extends object>(target: T, options?: { readonly model?: string | undefined }): T
  /**
   * Runs a call of a tool or function, which counts as one call. Rejects with `SLUICE_BUDGET_EXHAUSTED` if the budget
   * does not allow it or ends meanwhile, and otherwise like `work`. The signal that `work` receives is aborted when the
   * budget ends.
   */
  call<Args, Result>(
    options: WorkOptions<Args, Result>,
    work: (signal: AbortSignal) => MaybePromise<Result>,
  ): Promise<Awaited<Result>>
  /** Returns a function whose calls are calls of this budget. Throws `SLUICE_BAD_OPTION`. */
  guard<Args extends readonly unknown[], Result>(
    work: (...args: Args) => MaybePromise<Result>,
    options?: GuardOptions<Args, Result>,
  ): (...args: Args) => Promise<Awaited<Result>>
  /**
   * Returns tools of the AI SDK whose `execute` is guarded. Calls with the same input are repeated calls. Tools without
   * `execute` are returned as they are.
   */
  tools<Tools extends object>(tools: Tools): Tools
  /** Ends the budget: aborts running calls, and rejects further ones. Resolves when their units are settled. */
  close(): Promise<void>
}
