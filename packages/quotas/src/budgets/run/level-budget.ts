import { badOption, kindOf, type MaybePromise, optionalFunction, optionsOf } from '@sluice/limiter-core/backend'
import { type Amounts, decimalOf, NOTHING } from './level/run-amounts.ts'
import { type CallPlan, RunCall } from './level/run-call.ts'
import { BudgetExhausted, type RunEnd } from './level/run-end.ts'
import { RunLevel } from './level/run-level.ts'
import { type ChildOptions, checkedChildOptions, limitsOf, loopsOf, shareOf } from './level/run-options.ts'
import { type AgentsModel, type AgentsModelProvider, budgetedAgentsModel } from './models/agents-model.ts'
import { budgetedModel, type LanguageModel } from './models/language-model.ts'
import { ModelPrice } from './models/model-price.ts'
import { fieldsOf } from './models/model-usage.ts'
import type { GuardOptions, RunAmounts, RunBudget, RunReport, WorkCost, WorkOptions } from './run-budget.ts'
import { withMethods } from './with-methods.ts'

const CALL_OPTIONS = ['name', 'args', 'cost', 'settle', 'signal'] as const

/** The budget of a level. */
export class LevelBudget implements RunBudget {
  readonly #level: RunLevel
  readonly #forget: () => void

  constructor(level: RunLevel, forget: () => void = () => {}) {
    this.#level = level
    this.#forget = forget
  }

  get id(): string {
    return this.#level.run.id
  }

  get name(): string {
    return this.#level.path
  }

  get signal(): AbortSignal {
    return this.#level.signal
  }

  get end(): RunEnd | undefined {
    return this.#level.end
  }

  get spent(): RunAmounts {
    return shown(this.#level.spent, this.#level.elapsedMs)
  }

  async left(): Promise<Partial<RunAmounts>> {
    const { usd, tokens, calls, ms } = await this.#level.left()
    return {
      ...(usd !== undefined && { usd: decimalOf(usd), microUsd: usd }),
      ...(tokens !== undefined && { tokens }),
      ...(calls !== undefined && { calls }),
      ...(ms !== undefined && { seconds: ms / 1_000 }),
    }
  }

  report(): RunReport {
    return reportOf(this.#level)
  }

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
    return new LevelBudget(level)
  }

  wrap<T extends object>(target: T, options: { readonly model?: string | undefined } = {}): T {
    const { model } = optionsOf('wrap', options, ['model'])
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

  async call<Args, Result>(
    options: WorkOptions<Args, Result>,
    work: (signal: AbortSignal) => MaybePromise<Result>,
  ): Promise<Awaited<Result>> {
    const level = this.#level
    const { name, args, cost = {}, settle, signal } = optionsOf('call', options, CALL_OPTIONS)
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

  guard<Args extends readonly unknown[], Result>(
    work: (...args: Args) => MaybePromise<Result>,
    options: GuardOptions<Args, Result> = {},
  ): (...args: Args) => Promise<Awaited<Result>> {
    if (typeof work !== 'function') throw badOption('guard', kindOf(work), 'a function')
    const { compare, ...others } = optionsOf('guard', options, ['name', 'cost', 'settle', 'compare'])
    optionalFunction('guard: compare', compare)
    optionalFunction('guard: settle', others.settle)
    // throws for a wrong cost
    amountsOf(others.cost ?? {})
    const name = options.name ?? (work.name || 'function')
    return (...args) => this.call({ ...others, name, args: compare ? compare(...args) : args }, () => work(...args))
  }

  tools<Tools extends object>(tools: Tools): Tools {
    const guarded = Object.entries(tools).map(([name, tool]) => {
      const { execute } = fieldsOf(tool)
      if (typeof execute !== 'function') return [name, tool]
      const work = (...args: readonly unknown[]): unknown => execute.apply(tool, args)
      return [name, { ...tool, execute: this.guard(work, { name, compare: (input) => input }) }]
    })
    return Object.fromEntries(guarded) as Tools
  }

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
