import { badOption, kindOf, type MaybePromise, optionalFunction, optionsOf } from '@sluice/limiter-core/backend'
import { type Amounts, decimalOf, NOTHING } from './level/run-amounts.ts'
import { type CallPlan, RunCall } from './level/run-call.ts'
import { BudgetExhausted, type RunEnd } from './level/run-end.ts'
import { RunLevel } from './level/run-level.ts'
import {
  type ChildOptions,
  checkedChildOptions,
  limitsOf,
  loopsOf,
  type RunBounds,
  shareOf,
} from './level/run-options.ts'
import { type AgentsModel, type AgentsModelProvider, budgetedAgentsModel } from './models/agents-model.ts'
import { budgetedModel, type LanguageModel } from './models/language-model.ts'
import { ModelPrice } from './models/model-price.ts'
import { fieldsOf } from './models/model-usage.ts'
import { withMethods } from './with-methods.ts'

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

/** The budget of a run or of a part of it. */
export class RunBudget {
  readonly #level: RunLevel
  readonly #forget: () => void

  /** For `runBudget` and `child`. */
  constructor(level: RunLevel, forget: () => void = () => {}) {
    this.#level = level
    this.#forget = forget
  }

  /** Identifies the run on its backend. */
  get id(): string {
    return this.#level.run.id
  }

  /** `run`, or the names of the children: `research/search`. */
  get name(): string {
    return this.#level.path
  }

  /** Aborted when the budget ends, with the reason as a `BudgetExhausted`. */
  get signal(): AbortSignal {
    return this.#level.signal
  }

  /** Why the budget ended; undefined while it can be used. */
  get end(): RunEnd | undefined {
    return this.#level.end
  }

  /** What the calls of this process have spent. */
  get spent(): RunAmounts {
    return shown(this.#level.spent, this.#level.elapsedMs)
  }

  /** Returns what is left of each bound in all processes; undefined for what is not bounded. Held units are not left. */
  async left(): Promise<Partial<RunAmounts>> {
    const { usd, tokens, calls, ms } = await this.#level.left()
    return {
      ...(usd !== undefined && { usd: decimalOf(usd), microUsd: usd }),
      ...(tokens !== undefined && { tokens }),
      ...(calls !== undefined && { calls }),
      ...(ms !== undefined && { seconds: ms / 1_000 }),
    }
  }

  /** Returns the bills of this budget and of its children. */
  report(): RunReport {
    return reportOf(this.#level)
  }

  /**
   * Creates the budget of a sub-agent: a share of each bound, such as 0.2, or options. What it spends also counts in this
   * budget. The shares of all children may add up to more than 1. Throws `SLUICE_BAD_OPTION`, and
   * `SLUICE_BUDGET_EXHAUSTED` if this budget has ended.
   */
  child(options: number | ChildOptions): RunBudget {
    const parent = this.#level
    const given = checkedChildOptions(options)
    if (parent.end) throw parent.end
    const name = given.name ?? `child-${parent.children.length + 1}`
    if (parent.children.some(({ path }) => path === name || path.endsWith(`/${name}`))) {
      throw badOption('child: name', name, 'a name that no other child has')
    }
    const shared = given.share === undefined ? {} : shareOf(parent.limits, given.share)
    const limits = { ...shared, ...limitsOf('child', given) }
    const loops = given.loops === undefined ? parent.ownLoops : loopsOf('child', given.loops)
    const level = new RunLevel(parent.run, limits, loops, parent, name)
    parent.children.push(level)
    return new RunBudget(level)
  }

  /**
   * Returns a model, a model provider or an MCP client whose calls hold their units in this budget:
   * - a language model of the AI SDK, versions 2 to 4 of its interface
   * - a `Model` or a `ModelProvider` of the OpenAI Agents SDK
   * - a client of the MCP SDK, whose `callTool` is guarded
   *
   * `model`: name of the model in `prices`. Default: `modelId`, or the name that the provider receives. Throws
   * `SLUICE_BAD_OPTION` for anything else, and if dollars are bounded and the model has no price.
   */
  wrap<T extends object>(target: T, { model }: { readonly model?: string | undefined } = {}): T {
    const has = (...names: readonly string[]): boolean =>
      typeof target === 'object' &&
      target !== null &&
      names.every((name) => typeof (target as Readonly<Record<string, unknown>>)[name] === 'function')
    const price = (name: unknown): ModelPrice => new ModelPrice(this.#level, model ?? String(name))
    if (has('doGenerate', 'doStream')) {
      const own = target as unknown as LanguageModel
      return withMethods(target, budgetedModel(own, price(own.modelId)))
    }
    if (has('getResponse', 'getStreamedResponse')) {
      const own = target as unknown as AgentsModel
      return withMethods(target, budgetedAgentsModel(own, price(model)))
    }
    if (has('getModel')) {
      const own = target as unknown as AgentsModelProvider
      const getModel = async (name?: string): Promise<AgentsModel> =>
        this.wrap(await own.getModel(name), { model: model ?? name ?? 'default' })
      return withMethods(target, { getModel })
    }
    if (has('callTool')) {
      const own = target as unknown as { callTool(call: ToolCall, ...rest: readonly unknown[]): Promise<unknown> }
      const callTool = (call: ToolCall, ...rest: readonly unknown[]): Promise<unknown> =>
        this.call({ name: String(call?.name), args: call?.arguments }, () => own.callTool(call, ...rest))
      return withMethods(target, { callTool })
    }
    throw badOption('wrap', kindOf(target), 'a model, a model provider or an MCP client')
  }

  /**
   * Runs a call of a tool or function, which counts as one call. Rejects with `SLUICE_BUDGET_EXHAUSTED` if the budget
   * does not allow it or ends meanwhile, and otherwise like `work`. The signal that `work` receives is aborted when the
   * budget ends.
   */
  async call<Args, Result>(
    options: WorkOptions<Args, Result>,
    work: (signal: AbortSignal) => MaybePromise<Result>,
  ): Promise<Awaited<Result>> {
    const level = this.#level
    const { name, args, cost = {}, settle, signal } = options
    const reserved = amountsOf(cost)
    while (level.loops?.isLoop(name, args)) {
      if (!(await level.exhaust('loop', name)) && level.end) throw level.end
    }
    const call = await RunCall.open(level, workPlan(reserved), signal)
    try {
      const result = await call.race(Promise.resolve(work(call.signal)))
      await call.end(settle ? amountsOf(settle(result)) : reserved)
      return result
    } finally {
      await call.end(reserved)
    }
  }

  /** Returns a function whose calls are calls of this budget. Throws `SLUICE_BAD_OPTION`. */
  guard<Args extends readonly unknown[], Result>(
    work: (...args: Args) => MaybePromise<Result>,
    options: GuardOptions<Args, Result> = {},
  ): (...args: Args) => Promise<Awaited<Result>> {
    if (typeof work !== 'function') throw badOption('guard', kindOf(work), 'a function')
    const { compare, ...others } = optionsOf('guard', options, ['name', 'cost', 'settle', 'compare'])
    optionalFunction('guard: compare', compare)
    const name = options.name ?? (work.name || 'function')
    return (...args) => this.call({ ...others, name, args: compare ? compare(...args) : args }, () => work(...args))
  }

  /**
   * Returns tools of the AI SDK whose `execute` is guarded. Calls with the same input are repeated calls. Tools without
   * `execute` are returned as they are.
   */
  tools<Tools extends object>(tools: Tools): Tools {
    const guarded = Object.entries(tools).map(([name, tool]) => {
      const { execute } = fieldsOf(tool)
      if (typeof execute !== 'function') return [name, tool]
      const work = (...args: readonly unknown[]): unknown => execute.apply(tool, args)
      return [name, { ...tool, execute: this.guard(work, { name, compare: (input) => input }) }]
    })
    return Object.fromEntries(guarded) as Tools
  }

  /** Ends the budget: aborts running calls, and rejects further ones. Resolves when their units are settled. */
  async close(): Promise<void> {
    const level = this.#level
    const isRoot = level.parent === undefined
    this.#forget()
    level.stop(new BudgetExhausted({ bound: 'closed', budget: level.path }))
    while (level.calls.size > 0) await level.run.changes.after(level.run.changes.count)
    if (isRoot) await level.close()
  }
}

interface ToolCall {
  readonly name: string
  readonly arguments?: unknown
}

function workPlan(amounts: Amounts): CallPlan {
  return { amountsOf: () => amounts, want: 0, least: 0, step: 0 }
}

function amountsOf(cost: WorkCost): Amounts {
  return { ...NOTHING, ...limitsOf('cost', cost, 0), calls: 1 }
}

function reportOf(level: RunLevel): RunReport {
  const { bound, budget, limit, tool } = level.end ?? {}
  return {
    name: level.path,
    spent: shown(level.spent, level.elapsedMs),
    end: bound && budget !== undefined ? { bound, budget, limit, tool } : undefined,
    children: level.children.map(reportOf),
  }
}

function shown({ usd, tokens, calls }: Amounts, ms: number): RunAmounts {
  return { usd: decimalOf(usd), microUsd: usd, tokens, calls, seconds: ms / 1_000 }
}
